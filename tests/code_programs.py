"""Small programs written from the rules of each language, with the edges those rules give. Nothing is run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    files: dict[str, str]
    calls: frozenset[tuple[str, str]]  # exactly these calls between symbols of the program
    imports: frozenset[tuple[str, str]] = frozenset()  # at least these, file to file
    bases: frozenset[tuple[str, str, str]] = frozenset()  # (class, relation, class)


def pairs(text: str) -> frozenset[tuple[str, str]]:
    found = [line.split(" > ") for line in text.strip().splitlines()]
    return frozenset((source.strip(), target.strip()) for source, target in found)


PYTHON = Program(
    {
        "src/shop/__init__.py": "from .cart import Cart\nfrom .prices import *\n",
        "src/shop/cart.py": (
            "from __future__ import annotations\n"
            "from . import prices\n"
            "from .items import Item, make as build\n"
            "\n"
            "class Base:\n"
            "    def total(self):\n"
            "        return 0\n"
            "    def show(self):\n"
            "        return self.total()\n"
            "\n"
            "class Cart(Base):\n"
            "    def __init__(self, store: Store):\n"
            "        self.store = store\n"
            "        self.first = Item('a')\n"
            "    def total(self):\n"
            "        return super().show() + prices.net(3)\n"
            "    def add(self, item: Item):\n"
            "        item.label()\n"
            "        self.first.label()\n"
            "        self.store.save(item)\n"
            "        return self.total()\n"
            "\n"
            "class Store:\n"
            "    def save(self, item):\n"
            "        return build()\n"
        ),
        "src/shop/items.py": (
            "class Item:\n"
            "    def __init__(self, name):\n"
            "        self.name = name\n"
            "    def label(self):\n"
            "        return self.name\n"
            "\n"
            "def make() -> Item:\n"
            "    return Item('x')\n"
        ),
        "src/shop/prices.py": "def net(x):\n    return gross(x)\n\ndef gross(x):\n    return x\n",
        "app.py": (
            "import shop.items as things\n"
            "import shop.prices\n"
            "from shop import Cart, net\n"
            "\n"
            "def main():\n"
            "    cart = Cart(None)\n"
            "    cart.add(things.make())\n"
            "    shop.prices.gross(1)\n"
            "    net(2)\n"
            "    one = things.make()\n"
            "    one.label()\n"
            "    def inner():\n"
            "        return cart.show()\n"
            "    inner()\n"
            "    print(len([]))\n"
            "\n"
            "if __name__ == '__main__':\n"
            "    main()\n"
        ),
    },
    pairs(
        """
        src/shop/cart.py:Base.show > src/shop/cart.py:Base.total
        src/shop/cart.py:Cart.__init__ > src/shop/items.py:Item
        src/shop/cart.py:Cart.__init__ > src/shop/items.py:Item.__init__
        src/shop/cart.py:Cart.total > src/shop/cart.py:Base.show
        src/shop/cart.py:Cart.total > src/shop/prices.py:net
        src/shop/cart.py:Cart.add > src/shop/items.py:Item.label
        src/shop/cart.py:Cart.add > src/shop/cart.py:Store.save
        src/shop/cart.py:Cart.add > src/shop/cart.py:Cart.total
        src/shop/cart.py:Store.save > src/shop/items.py:make
        src/shop/items.py:make > src/shop/items.py:Item
        src/shop/items.py:make > src/shop/items.py:Item.__init__
        src/shop/prices.py:net > src/shop/prices.py:gross
        app.py:main > src/shop/cart.py:Cart
        app.py:main > src/shop/cart.py:Cart.__init__
        app.py:main > src/shop/cart.py:Cart.add
        app.py:main > src/shop/items.py:make
        app.py:main > src/shop/items.py:Item.label
        app.py:main > src/shop/prices.py:gross
        app.py:main > src/shop/prices.py:net
        app.py:main > app.py:main.inner
        app.py:main.inner > src/shop/cart.py:Base.show
        app.py > app.py:main
        """
    ),
    pairs(
        """
        src/shop/__init__.py > src/shop/cart.py
        src/shop/__init__.py > src/shop/prices.py
        src/shop/cart.py > src/shop/prices.py
        src/shop/cart.py > src/shop/items.py
        app.py > src/shop/items.py
        app.py > src/shop/prices.py
        app.py > src/shop/__init__.py
        app.py > src/shop/cart.py
        """
    ),
    frozenset({("src/shop/cart.py:Cart", "extends", "src/shop/cart.py:Base")}),
)

TYPESCRIPT = Program(
    {
        "tsconfig.json": (
            '{ // comments are allowed\n "compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["lib/*"],}}}\n'
        ),
        "package.json": '{"name": "root"}',
        "packages/tools/package.json": '{"name": "@acme/tools", "exports": {".": {"import": "./dist/index.js"}}}',
        "packages/tools/src/index.ts": "export function hammer(): void {}\n",
        "lib/shapes.ts": (
            "export interface Shape { area(): number }\n"
            "export abstract class Figure implements Shape {\n"
            "  abstract area(): number;\n"
            "  twice(): number { return this.area() * 2 }\n"
            "}\n"
            "export default function unit(): Figure { return new Square(1) }\n"
            "export class Square extends Figure {\n"
            "  constructor(private side: number) { super() }\n"
            "  area(): number { return helper(this.side) }\n"
            "}\n"
            "const helper = (x: number) => x * x\n"
        ),
        "lib/index.ts": 'export * from "./shapes"\nexport { Square as Box } from "./shapes.js"\n',
        "src/main.tsx": (
            'import unit, { Figure } from "@lib/shapes"\n'
            'import * as shapes from "@lib/index"\n'
            'import { Box } from "../lib"\n'
            'import { hammer } from "@acme/tools"\n'
            'import { useState } from "react"\n'
            "export function App() {\n"
            "  const box = new Box(2)\n"
            "  box.twice()\n"
            "  hammer()\n"
            "  useState(0)\n"
            "  return <Panel figure={unit()} />\n"
            "}\n"
            "function Panel(props: { figure: Figure }) {\n"
            "  const other: Figure = props.figure\n"
            "  return other.area() + new shapes.Square(3).area()\n"
            "}\n"
        ),
        "src/old.js": 'const { App } = require("./main")\nmodule.exports = { run: () => App() }\n',
    },
    pairs(
        """
        lib/shapes.ts:Figure.twice > lib/shapes.ts:Figure.area
        lib/shapes.ts:unit > lib/shapes.ts:Square
        lib/shapes.ts:unit > lib/shapes.ts:Square.constructor
        lib/shapes.ts:Square.area > lib/shapes.ts:helper
        src/main.tsx:App > lib/shapes.ts:Square
        src/main.tsx:App > lib/shapes.ts:Square.constructor
        src/main.tsx:App > lib/shapes.ts:Figure.twice
        src/main.tsx:App > packages/tools/src/index.ts:hammer
        src/main.tsx:App > src/main.tsx:Panel
        src/main.tsx:App > lib/shapes.ts:unit
        src/main.tsx:Panel > lib/shapes.ts:Figure.area
        src/main.tsx:Panel > lib/shapes.ts:Square.area
        src/main.tsx:Panel > lib/shapes.ts:Square
        src/main.tsx:Panel > lib/shapes.ts:Square.constructor
        src/old.js > src/main.tsx:App
        """
    ),
    pairs(
        """
        lib/index.ts > lib/shapes.ts
        src/main.tsx > lib/shapes.ts
        src/main.tsx > lib/index.ts
        src/main.tsx > packages/tools/src/index.ts
        src/old.js > src/main.tsx
        """
    ),
    frozenset(
        {
            ("lib/shapes.ts:Figure", "implements", "lib/shapes.ts:Shape"),
            ("lib/shapes.ts:Square", "extends", "lib/shapes.ts:Figure"),
        }
    ),
)

GO = Program(
    {
        "go.mod": "module example.com/web\n\ngo 1.21\n",
        "main.go": (
            "package main\n\n"
            'import (\n\t"fmt"\n\t"example.com/web/router"\n)\n\n'
            "func main() {\n\tr := router.New()\n\tr.Use(log)\n\tfmt.Println(version())\n}\n\n"
            "func log() {}\n"
        ),
        "version.go": 'package main\n\nfunc version() string { return "1" }\n',
        "router/router.go": (
            "package router\n\n"
            "type Router struct {\n\tgroup\n\ttree *node\n}\n\n"
            "type Handler interface { Serve() }\n\n"
            "func New() *Router { return &Router{} }\n\n"
            "func (r *Router) Use(f func()) { r.tree.insert(f); r.prefix() }\n"
        ),
        "router/tree.go": (
            "package router\n\n"
            "type node struct { f func() }\n\n"
            "func (n *node) insert(f func()) { n.f = f }\n\n"
            "type group struct{}\n\n"
            'func (g group) prefix() string { return "" }\n'
        ),
    },
    pairs(
        """
        main.go:main > router/router.go:New
        main.go:main > router/router.go:Router.Use
        main.go:main > version.go:version
        router/router.go:New > router/router.go:Router
        router/router.go:Router.Use > router/tree.go:node.insert
        router/router.go:Router.Use > router/tree.go:group.prefix
        """
    ),
    pairs("main.go > router/router.go"),
    frozenset({("router/router.go:Router", "extends", "router/tree.go:group")}),
)

RUST = Program(
    {
        "Cargo.toml": '[package]\nname = "my-app"\n\n[workspace]\nmembers = ["crates/*"]\n',
        "crates/core/Cargo.toml": '[package]\nname = "app-core"\n',
        "crates/core/src/lib.rs": "pub mod math;\npub use math::add;\n",
        "crates/core/src/math.rs": "pub fn add(a: i32, b: i32) -> i32 { a + b }\n",
        "src/main.rs": (
            "mod shapes;\n"
            "use app_core::{add, math::add as plus};\n"
            "use crate::shapes::{Shape, Square};\n\n"
            "fn main() {\n"
            "    let square = Square::new(2);\n"
            "    square.area();\n"
            "    add(1, 2);\n"
            "    plus(1, 2);\n"
            "    shapes::round::make();\n"
            '    println!("{}", 1);\n'
            "}\n"
        ),
        "src/shapes/mod.rs": (
            "pub mod round;\n\n"
            "pub trait Shape { fn area(&self) -> i32; }\n\n"
            "pub struct Square { side: i32 }\n\n"
            "impl Square {\n"
            "    pub fn new(side: i32) -> Self { Square { side } }\n"
            "}\n\n"
            "impl Shape for Square {\n"
            "    fn area(&self) -> i32 { self.grow() }\n"
            "}\n\n"
            "impl Square {\n"
            "    fn grow(&self) -> i32 { round::make(); self.side }\n"
            "}\n"
        ),
        "src/shapes/round.rs": "use super::Square;\n\npub fn make() { Square::new(1); }\n",
    },
    pairs(
        """
        src/main.rs:main > src/shapes/mod.rs:Square.new
        src/main.rs:main > src/shapes/mod.rs:Square.area
        src/main.rs:main > crates/core/src/math.rs:add
        src/main.rs:main > src/shapes/round.rs:make
        src/shapes/mod.rs:Square.new > src/shapes/mod.rs:Square
        src/shapes/mod.rs:Square.area > src/shapes/mod.rs:Square.grow
        src/shapes/mod.rs:Square.grow > src/shapes/round.rs:make
        src/shapes/round.rs:make > src/shapes/mod.rs:Square.new
        """
    ),
    pairs(
        """
        src/main.rs > src/shapes/mod.rs
        src/main.rs > crates/core/src/math.rs
        src/shapes/mod.rs > src/shapes/round.rs
        src/shapes/round.rs > src/shapes/mod.rs
        crates/core/src/lib.rs > crates/core/src/math.rs
        """
    ),
    frozenset({("src/shapes/mod.rs:Square", "implements", "src/shapes/mod.rs:Shape")}),
)

JAVA = Program(
    {
        "src/main/java/org/acme/Cart.java": (
            "package org.acme;\n\nimport org.acme.items.Item;\n\n"
            "public class Cart extends Base implements Holder {\n"
            "  private Item first;\n"
            "  public int total() { return first.price() + count(); }\n"
            "  Item make() { return new Item(); }\n"
            "}\n"
        ),
        "src/main/java/org/acme/Base.java": "package org.acme;\n\nclass Base {\n  int count() { return 1; }\n}\n",
        "src/main/java/org/acme/Holder.java": "package org.acme;\n\ninterface Holder {}\n",
        "src/main/java/org/acme/items/Item.java": (
            "package org.acme.items;\n\npublic class Item {\n  public int price() { return 2; }\n}\n"
        ),
    },
    pairs(
        """
        src/main/java/org/acme/Cart.java:Cart.total > src/main/java/org/acme/items/Item.java:Item.price
        src/main/java/org/acme/Cart.java:Cart.total > src/main/java/org/acme/Base.java:Base.count
        src/main/java/org/acme/Cart.java:Cart.make > src/main/java/org/acme/items/Item.java:Item
        """
    ),
    pairs("src/main/java/org/acme/Cart.java > src/main/java/org/acme/items/Item.java"),
    frozenset(
        {
            ("src/main/java/org/acme/Cart.java:Cart", "extends", "src/main/java/org/acme/Base.java:Base"),
            ("src/main/java/org/acme/Cart.java:Cart", "implements", "src/main/java/org/acme/Holder.java:Holder"),
        }
    ),
)

C = Program(
    {
        "src/list.h": "struct list { int n; };\nint list_length(struct list *l);\n",
        "src/list.c": '#include "list.h"\n\nint list_length(struct list *l) { return l->n; }\n',
        "src/main.c": '#include <stdio.h>\n#include "list.h"\n\nint main(void) { return list_length(0); }\n',
    },
    pairs("src/main.c:main > src/list.c:list_length"),
    pairs("src/main.c > src/list.h\nsrc/list.c > src/list.h"),
)

CPP = Program(
    {
        "src/shape.hpp": (
            "#pragma once\n"
            "namespace geo {\n"
            "class Shape {\n"
            " public:\n"
            "  virtual int area() { return 0; }\n"
            "};\n"
            "class Square : public Shape {\n"
            " public:\n"
            "  int area();\n"
            "  int side();\n"
            "};\n"
            "}\n"
        ),
        "src/shape.cpp": (
            '#include "shape.hpp"\nusing namespace geo;\n\n'
            "int Square::side() { return 2; }\nint Square::area() { return side() * side(); }\n"
        ),
        "src/main.cpp": (
            '#include <vector>\n#include "shape.hpp"\nusing namespace geo;\n\n'
            "static int twice(Square &s) { return s.area() * 2; }\n"
            "int main() {\n  Square s;\n  return twice(s) + s.side();\n}\n"
        ),
    },
    pairs(
        """
        src/shape.cpp:Square.area > src/shape.cpp:Square.side
        src/main.cpp:main > src/main.cpp:twice
        src/main.cpp:main > src/shape.cpp:Square.side
        src/main.cpp:twice > src/shape.cpp:Square.area
        """
    ),
    pairs("src/main.cpp > src/shape.hpp\nsrc/shape.cpp > src/shape.hpp"),
    frozenset({("src/shape.hpp:geo.Square", "extends", "src/shape.hpp:geo.Shape")}),
)

C_SHARP = Program(
    {
        "Shop/Cart.cs": (
            "using Acme.Items;\n\nnamespace Acme.Shop;\n\n"
            "public class Cart : Basis, IHolder\n{\n"
            "    private Item first;\n"
            "    public int Total() { return first.Price() + Count(); }\n"
            "    public Item Make() { return new Item(); }\n"
            "}\n"
        ),
        "Shop/Basis.cs": "namespace Acme.Shop\n{\n    public class Basis { public int Count() { return 1; } }\n}\n",
        "Shop/IHolder.cs": "namespace Acme.Shop;\n\npublic interface IHolder { }\n",
        "Items/Item.cs": ("namespace Acme.Items;\n\npublic class Item\n{\n    public int Price() { return 2; }\n}\n"),
    },
    pairs(
        """
        Shop/Cart.cs:Cart.Total > Items/Item.cs:Item.Price
        Shop/Cart.cs:Cart.Total > Shop/Basis.cs:Basis.Count
        Shop/Cart.cs:Cart.Make > Items/Item.cs:Item
        """
    ),
    frozenset(),  # a `using` names a namespace, not a file
    frozenset(
        {
            ("Shop/Cart.cs:Cart", "extends", "Shop/Basis.cs:Basis"),
            ("Shop/Cart.cs:Cart", "extends", "Shop/IHolder.cs:IHolder"),
        }
    ),
)

RUBY = Program(
    {
        "lib/shop/item.rb": (
            "module Shop\n  class Item\n    def initialize(name)\n      @name = name\n    end\n\n"
            "    def label\n      @name\n    end\n  end\nend\n"
        ),
        "lib/shop/cart.rb": (
            "require_relative 'item'\nrequire 'json'\n\n"
            "module Shop\n  class Base\n    def count\n      1\n    end\n  end\n\n"
            "  class Cart < Base\n"
            "    def add(name)\n      item = Item.new(name)\n      item.label\n"
            "      count()\n      self.total\n    end\n\n"
            "    def total\n      count()\n    end\n\n"
            "    def self.build\n      Cart.new\n    end\n  end\nend\n"
        ),
    },
    pairs(
        """
        lib/shop/cart.rb:Shop.Cart.add > lib/shop/item.rb:Shop.Item
        lib/shop/cart.rb:Shop.Cart.add > lib/shop/item.rb:Shop.Item.initialize
        lib/shop/cart.rb:Shop.Cart.add > lib/shop/item.rb:Shop.Item.label
        lib/shop/cart.rb:Shop.Cart.add > lib/shop/cart.rb:Shop.Base.count
        lib/shop/cart.rb:Shop.Cart.add > lib/shop/cart.rb:Shop.Cart.total
        lib/shop/cart.rb:Shop.Cart.total > lib/shop/cart.rb:Shop.Base.count
        lib/shop/cart.rb:Shop.Cart.build > lib/shop/cart.rb:Shop.Cart
        """
    ),
    pairs("lib/shop/cart.rb > lib/shop/item.rb"),
    frozenset({("lib/shop/cart.rb:Shop.Cart", "extends", "lib/shop/cart.rb:Shop.Base")}),
)

PROGRAMS = {
    "cpp": CPP,
    "c#": C_SHARP,
    "ruby": RUBY,
    "python": PYTHON,
    "typescript": TYPESCRIPT,
    "go": GO,
    "rust": RUST,
    "java": JAVA,
    "c": C,
}
