(package_clause (package_identifier) @package)

(function_declaration name: (identifier) @name) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration
    type: [(type_identifier) @owner (pointer_type (type_identifier) @owner)
           (generic_type type: (type_identifier) @owner)
           (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (field_identifier) @name) @def.method
(method_declaration
  receiver: (parameter_list (parameter_declaration name: (identifier) @var
    type: [(type_identifier) @type (pointer_type (type_identifier) @type)])))
(type_declaration (type_spec name: (type_identifier) @name type: (interface_type))) @def.interface
(type_declaration (type_spec name: (type_identifier) @name type: (struct_type))) @def.class
(type_declaration (type_spec name: (type_identifier) @name
  type: [(type_identifier) (qualified_type) (function_type) (map_type) (slice_type) (pointer_type) (array_type)
         (channel_type)])) @def.class

(struct_type (field_declaration_list (field_declaration !name
  type: [(type_identifier) (qualified_type)] @base.extends)))
(struct_type (field_declaration_list (field_declaration !name
  type: (pointer_type [(type_identifier) (qualified_type)] @base.extends))))
(interface_type (type_elem [(type_identifier) (qualified_type)] @base.extends))
(struct_type (field_declaration_list (field_declaration name: (field_identifier) @field
  type: [(type_identifier) (qualified_type)] @type)))
(struct_type (field_declaration_list (field_declaration name: (field_identifier) @field
  type: (pointer_type [(type_identifier) (qualified_type)] @type))))

(import_spec !name path: (interpreted_string_literal (interpreted_string_literal_content) @import.module))
(import_spec name: (_) @import.alias path: (interpreted_string_literal (interpreted_string_literal_content) @import.module))

(call_expression function: [(identifier) (selector_expression)] @call)
(composite_literal type: [(type_identifier) (qualified_type)] @call)

(function_declaration result: [(type_identifier) (qualified_type)] @returns)
(function_declaration result: (pointer_type [(type_identifier) (qualified_type)] @returns))
(method_declaration result: [(type_identifier) (qualified_type)] @returns)
(method_declaration result: (pointer_type [(type_identifier) (qualified_type)] @returns))

(short_var_declaration left: (expression_list . (identifier) @var)
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @made)))
(short_var_declaration left: (expression_list . (identifier) @var)
  right: (expression_list . (composite_literal type: [(type_identifier) (qualified_type)] @type)))
(short_var_declaration left: (expression_list . (identifier) @var)
  right: (expression_list . (unary_expression
    operand: (composite_literal type: [(type_identifier) (qualified_type)] @type))))
(parameter_declaration name: (identifier) @var type: [(type_identifier) (qualified_type)] @type)
(parameter_declaration name: (identifier) @var type: (pointer_type [(type_identifier) (qualified_type)] @type))
(var_spec name: (identifier) @var type: [(type_identifier) (qualified_type)] @type)
(var_spec name: (identifier) @var type: (pointer_type [(type_identifier) (qualified_type)] @type))

; Names that are handed on without being called, and types wherever they stand.
(argument_list [(identifier) (selector_expression)] @ref)
(keyed_element (literal_element [(identifier) (selector_expression)] @ref))
(assignment_statement right: (expression_list [(identifier) (selector_expression)] @ref))
(return_statement (expression_list [(identifier) (selector_expression)] @ref))
(slice_type element: [(type_identifier) (qualified_type)] @ref)
(map_type value: [(type_identifier) (qualified_type)] @ref)
(type_assertion_expression type: [(type_identifier) (qualified_type)] @ref)
