(function_item name: (identifier) @name) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item name: (type_identifier) @name) @def.class
(enum_item name: (type_identifier) @name) @def.class
(union_item name: (type_identifier) @name) @def.class
(type_item name: (type_identifier) @name) @def.type
(trait_item name: (type_identifier) @name) @def.interface
(macro_definition name: (identifier) @name) @def.function
(mod_item name: (identifier) @name body: (_)) @def.module
(impl_item type: [(type_identifier) (scoped_type_identifier)] @name) @def.impl
(impl_item type: (generic_type type: [(type_identifier) (scoped_type_identifier)] @name)) @def.impl
(impl_item trait: [(type_identifier) (scoped_type_identifier)] @base.implements)
(impl_item trait: (generic_type type: [(type_identifier) (scoped_type_identifier)] @base.implements))
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @base.extends))

(mod_item name: (identifier) @import.mod !body)
(use_declaration argument: (_) @import.use)
(use_declaration (visibility_modifier) argument: (_) @export.use)
(extern_crate_declaration name: (identifier) @import.module)

(call_expression function: [(identifier) (scoped_identifier) (field_expression)] @call)
(call_expression function: (generic_function function: [(identifier) (scoped_identifier) (field_expression)] @call))
(macro_invocation macro: [(identifier) (scoped_identifier)] @call)
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @call)

(function_item return_type: [(type_identifier) (scoped_type_identifier)] @returns)
(function_item return_type: (reference_type type: [(type_identifier) (scoped_type_identifier)] @returns))
(function_item return_type: (generic_type type: (type_identifier) @wrapper
  type_arguments: (type_arguments . (type_identifier) @returns)))

(let_declaration pattern: (identifier) @var value: (call_expression function: [(identifier) (scoped_identifier)] @made))
(let_declaration pattern: (identifier) @var
  value: (try_expression (call_expression function: [(identifier) (scoped_identifier)] @made)))
(let_declaration pattern: (identifier) @var value: (struct_expression name: (_) @type))
(let_declaration pattern: (identifier) @var type: [(type_identifier) (scoped_type_identifier)] @type)
(let_declaration pattern: (mut_pattern (identifier) @var)
  value: (call_expression function: [(identifier) (scoped_identifier)] @made))
(parameter pattern: (identifier) @var type: [(type_identifier) (scoped_type_identifier)] @type)
(parameter pattern: (identifier) @var type: (reference_type type: [(type_identifier) (scoped_type_identifier)] @type))
(field_declaration name: (field_identifier) @field type: [(type_identifier) (scoped_type_identifier)] @type)
(field_declaration name: (field_identifier) @field
  type: (generic_type type: (type_identifier) @wrapper type_arguments: (type_arguments . (type_identifier) @type)))

; Names that are handed on without being called, and types wherever they stand.
(arguments [(identifier) (scoped_identifier)] @ref)
(type_arguments [(type_identifier) (scoped_type_identifier)] @ref)
(array_expression [(identifier) (scoped_identifier)] @ref)
(field_initializer value: [(identifier) (scoped_identifier)] @ref)
(match_pattern (scoped_identifier) @ref)
(tuple_struct_pattern type: [(identifier) (scoped_identifier)] @ref)
