; What C++ has beyond C; read after c.scm.
(function_definition declarator: (function_declarator
  declarator: (qualified_identifier scope: (_) @owner name: (identifier) @name))) @def.method
(function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @def.method
(class_specifier name: (type_identifier) @name body: (_)) @def.class
(namespace_definition name: (namespace_identifier) @name) @def.space

(base_class_clause [(type_identifier) (qualified_identifier)] @base.extends)

(call_expression function: (qualified_identifier) @call)
(new_expression type: (type_identifier) @call)

(declaration type: (type_identifier) @type declarator: (identifier) @var)
(declaration type: (type_identifier) @type declarator: (init_declarator declarator: (identifier) @var))
(parameter_declaration type: (type_identifier) @type declarator: (identifier) @var)
(parameter_declaration type: (type_identifier) @type declarator: (reference_declarator (identifier) @var))
(parameter_declaration type: (type_identifier) @type declarator: (pointer_declarator declarator: (identifier) @var))
