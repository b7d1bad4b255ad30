(class name: [(constant) (scope_resolution)] @name) @def.class
(module name: [(constant) (scope_resolution)] @name) @def.class
(method name: (_) @name) @def.method
(singleton_method name: (_) @name) @def.method

(superclass [(constant) (scope_resolution)] @base.extends)

(call !receiver method: (identifier) @import.require
  arguments: (argument_list . (string (string_content) @import.module)))

(call !receiver method: (identifier) @call)
(call receiver: [(constant) (identifier) (scope_resolution) (self) (instance_variable)] method: (identifier)) @call.whole

(assignment left: [(identifier) (instance_variable)] @var
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier)))
