; Definitions. A decorated one is as wide as its decorators; the parser keeps the widest span of a name.
(function_definition name: (identifier) @name) @def.function
(class_definition name: (identifier) @name) @def.class
(decorated_definition definition: (function_definition name: (identifier) @name)) @def.function
(decorated_definition definition: (class_definition name: (identifier) @name)) @def.class

(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base.extends))

(function_definition return_type: (type) @returns)

(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module name: (dotted_name) @import.name)
(import_from_statement module_name: (_) @import.module
  name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module (wildcard_import) @import.all)

(call function: [(identifier) (attribute)] @call)
(decorator [(identifier) (attribute)] @call)

(assignment left: [(identifier) (attribute)] @var right: (call function: [(identifier) (attribute)] @made))
(assignment left: [(identifier) (attribute)] @var type: (type) @type)
(typed_parameter (identifier) @var type: (type) @type)
(typed_default_parameter name: (identifier) @var type: (type) @type)
(with_item (as_pattern (call function: [(identifier) (attribute)] @made) alias: (as_pattern_target (identifier) @var)))

(module (if_statement condition: (comparison_operator (identifier) @entry)))

; Names that are handed on without being called.
(argument_list [(identifier) (attribute)] @ref)
(keyword_argument value: [(identifier) (attribute)] @ref)
(list [(identifier) (attribute)] @ref)
(tuple [(identifier) (attribute)] @ref)
(set [(identifier) (attribute)] @ref)
(pair value: [(identifier) (attribute)] @ref)
(assignment right: [(identifier) (attribute)] @ref)
(return_statement [(identifier) (attribute)] @ref)
(except_clause [(identifier) (attribute)] @ref)
(expression_list [(identifier) (attribute)] @ref)

(assignment left: (attribute) @var right: (identifier) @same)
