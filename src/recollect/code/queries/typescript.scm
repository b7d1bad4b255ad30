(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
(class_declaration name: (type_identifier) @name) @def.class
(class name: (type_identifier) @name) @def.class
(abstract_class_declaration name: (type_identifier) @name) @def.class
(interface_declaration name: (type_identifier) @name) @def.interface
(type_alias_declaration name: (type_identifier) @name) @def.type
(enum_declaration name: (identifier) @name) @def.class
(function_signature name: (identifier) @name) @def.function
(method_signature name: (property_identifier) @name) @def.method
(abstract_method_signature name: (property_identifier) @name) @def.method
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @def.method
(lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)])) @def.function
(variable_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)])) @def.function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @def.class
(public_field_definition name: (property_identifier) @name value: [(arrow_function) (function_expression)]) @def.method
(assignment_expression left: (member_expression property: (property_identifier) @name)
  right: [(function_expression) (arrow_function)]) @def.function
(export_statement declaration: (_ name: (_) @name)) @def.wider
(export_statement declaration: (_ (variable_declarator name: (identifier) @name))) @def.wider

(extends_clause value: [(identifier) (member_expression)] @base.extends)
(implements_clause [(type_identifier) (nested_type_identifier)] @base.implements)
(implements_clause (generic_type name: [(type_identifier) (nested_type_identifier)] @base.implements))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @base.extends)
(extends_type_clause type: (generic_type name: [(type_identifier) (nested_type_identifier)] @base.extends))

(function_declaration return_type: (type_annotation [(type_identifier) (generic_type)] @returns))
(method_definition return_type: (type_annotation [(type_identifier) (generic_type)] @returns))

(import_statement source: (string (string_fragment) @import.module)) @import.side
(import_statement (import_clause (identifier) @import.default) source: (string (string_fragment) @import.module))
(import_statement (import_clause (namespace_import (identifier) @import.space))
  source: (string (string_fragment) @import.module))
(import_statement (import_clause (named_imports (import_specifier name: (_) @import.name !alias)))
  source: (string (string_fragment) @import.module))
(import_statement (import_clause (named_imports (import_specifier name: (_) @import.name alias: (_) @import.alias)))
  source: (string (string_fragment) @import.module))
(variable_declarator name: (identifier) @import.space
  value: (call_expression function: (identifier) @import.require
    arguments: (arguments . (string (string_fragment) @import.module))))
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression function: (identifier) @import.require
    arguments: (arguments . (string (string_fragment) @import.module))))
(call_expression function: (identifier) @import.require
  arguments: (arguments . (string (string_fragment) @import.module)))
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @import.module)))

(export_statement (export_clause (export_specifier name: (_) @export.name !alias))
  source: (string (string_fragment) @import.module))
(export_statement (export_clause (export_specifier name: (_) @export.name alias: (_) @export.alias))
  source: (string (string_fragment) @import.module))
(export_statement (namespace_export (identifier) @export.space) source: (string (string_fragment) @import.module))
(export_statement "*" @export.all source: (string (string_fragment) @import.module))
(export_statement (export_clause (export_specifier name: (identifier) @export.local !alias)) !source)
(export_statement (export_clause (export_specifier name: (identifier) @export.local alias: (_) @export.alias)) !source)
(export_statement "default" declaration: (_ name: (identifier) @export.default))
(export_statement "default" value: (identifier) @export.default)

(call_expression function: [(identifier) (member_expression)] @call)
(new_expression constructor: [(identifier) (member_expression)] @call)

(variable_declarator name: (identifier) @var value: (new_expression constructor: [(identifier) (member_expression)] @made))
(variable_declarator name: (identifier) @var
  value: (call_expression function: [(identifier) (member_expression)] @made))
(assignment_expression left: (member_expression) @var
  right: (new_expression constructor: [(identifier) (member_expression)] @made))
(public_field_definition name: (property_identifier) @field
  value: (new_expression constructor: [(identifier) (member_expression)] @made))
(required_parameter pattern: (identifier) @var type: (type_annotation [(type_identifier) (nested_type_identifier)] @type))
(optional_parameter pattern: (identifier) @var type: (type_annotation [(type_identifier) (nested_type_identifier)] @type))
(required_parameter (accessibility_modifier) pattern: (identifier) @field
  type: (type_annotation [(type_identifier) (nested_type_identifier)] @type))
(variable_declarator name: (identifier) @var
  type: (type_annotation [(type_identifier) (nested_type_identifier)] @type))
(public_field_definition name: (property_identifier) @field
  type: (type_annotation [(type_identifier) (nested_type_identifier)] @type))
(export_statement "default" declaration: (_ name: (type_identifier) @export.default))

; Names that are handed on without being called.
(arguments [(identifier) (member_expression)] @ref)
(array [(identifier) (member_expression)] @ref)
(pair value: [(identifier) (member_expression)] @ref)
(shorthand_property_identifier) @ref
(variable_declarator value: [(identifier) (member_expression)] @ref)
(assignment_expression right: [(identifier) (member_expression)] @ref)
(return_statement [(identifier) (member_expression)] @ref)
(arrow_function body: (identifier) @ref)
(type_annotation (type_identifier) @ref)
(type_arguments (type_identifier) @ref)
(union_type (type_identifier) @ref)
(array_type (type_identifier) @ref)
(generic_type name: (type_identifier) @ref)
(assignment_expression left: (member_expression) @var right: (identifier) @same)
