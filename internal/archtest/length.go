package archtest

import (
	"go/ast"

	"golang.org/x/tools/go/packages"
)

// maxFunction is how many lines a function may have. Dispatch switches of three hundred lines stood
// here once; the reader of a long one has lost the beginning at the end.
const maxFunction = 60

// checkLength reports functions that are too long. One whose body is a single statement is a table
// and may be longer, and so may generated code.
func (c *checker) checkLength(p *packages.Package) {
	for _, f := range p.Syntax {
		if ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || len(fn.Body.List) == 1 {
				continue
			}
			first, last := p.Fset.Position(fn.Pos()).Line, p.Fset.Position(fn.End()).Line
			if n := last - first + 1; n > maxFunction {
				c.reportAt(p, fn.Pos(), "%s has %d lines, more than %d: give its parts names", fn.Name.Name, n, maxFunction)
			}
		}
	}
}
