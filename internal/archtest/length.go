package archtest

import (
	"go/ast"

	"golang.org/x/tools/go/packages"
)

// maxFunction is how many lines a function may have. Dispatch switches of three hundred lines stood
// here once; the reader of a long one has lost the beginning at the end.
const maxFunction = 60

// checkLength reports functions that are too long. One that is a table may be
// longer, and so may generated code.
func (c *checker) checkLength(p *packages.Package) {
	for _, f := range p.Syntax {
		if ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || isTable(fn.Body) {
				continue
			}
			first, last := p.Fset.Position(fn.Pos()).Line, p.Fset.Position(fn.End()).Line
			if n := last - first + 1; n > maxFunction {
				c.reportAt(p, fn.Pos(), "%s has %d lines, more than %d: give its parts names", fn.Name.Name, n, maxFunction)
			}
		}
	}
}

// isTable reports whether a body is one call, literal or return, or one switch between such.
func isTable(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	x, ok := body.List[0].(*ast.SwitchStmt)
	if !ok {
		return isEntry(body.List[0])
	}
	for _, c := range x.Body.List {
		if list := c.(*ast.CaseClause).Body; len(list) != 1 || !isEntry(list[0]) {
			return false
		}
	}
	return true
}

func isEntry(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ReturnStmt, *ast.ExprStmt, *ast.AssignStmt, *ast.DeclStmt:
		return true
	}
	return false
}
