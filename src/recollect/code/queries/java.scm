(package_declaration [(scoped_identifier) (identifier)] @package)

(class_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(enum_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.interface
(annotation_type_declaration name: (identifier) @name) @def.interface
(method_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.method

(superclass [(type_identifier) (scoped_type_identifier)] @base.extends)
(superclass (generic_type [(type_identifier) (scoped_type_identifier)] @base.extends))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base.implements))
(super_interfaces (type_list (generic_type [(type_identifier) (scoped_type_identifier)] @base.implements)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base.extends))

(import_declaration (scoped_identifier) @import.module)

(method_invocation !object name: (identifier) @call)
(method_invocation object: [(identifier) (field_access) (this)] name: (identifier)) @call.whole
(method_invocation object: (super) name: (identifier)) @call.whole
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call)
(object_creation_expression type: (generic_type (type_identifier) @call))

(method_declaration type: (type_identifier) @returns)
(local_variable_declaration type: (type_identifier) @type declarator: (variable_declarator name: (identifier) @var))
(local_variable_declaration type: (generic_type (type_identifier) @type)
  declarator: (variable_declarator name: (identifier) @var))
(formal_parameter type: (type_identifier) @type name: (identifier) @var)
(field_declaration type: (type_identifier) @type declarator: (variable_declarator name: (identifier) @field))
(field_declaration type: (generic_type (type_identifier) @type)
  declarator: (variable_declarator name: (identifier) @field))
