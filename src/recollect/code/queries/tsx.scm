; What TSX has beyond TypeScript; read after typescript.scm.
(jsx_opening_element name: [(identifier) (member_expression)] @call)
(jsx_self_closing_element name: [(identifier) (member_expression)] @call)
(jsx_expression (identifier) @ref)
