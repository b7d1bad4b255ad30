(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)

(class_declaration name: (identifier) @name) @def.class
(struct_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(enum_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.interface
(method_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.method

(base_list [(identifier) (qualified_name)] @base.extends)
(base_list (generic_name (identifier) @base.extends))

(using_directive (_) @import.space_of)

(invocation_expression function: [(identifier) (member_access_expression)] @call)
(object_creation_expression type: (identifier) @call)

(variable_declaration type: (identifier) @type (variable_declarator name: (identifier) @var))
(parameter type: (identifier) @type name: (identifier) @var)
