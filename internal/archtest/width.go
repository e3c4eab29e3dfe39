package archtest

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Comments are wrapped at 100 columns. One that has grown a little since is no fault before maxWidth.
const (
	maxWidth = 110
	tabWidth = 4
)

// checkWidth reports lines of comments that are too long to read. Drawings and tables, which are indented
// within the comment, may be wider, and so may comments behind code.
func (c *checker) checkWidth(p *packages.Package) {
	for _, f := range p.Syntax {
		if ast.IsGenerated(f) {
			continue
		}
		for _, g := range f.Comments {
			for _, x := range g.List {
				at := p.Fset.Position(x.Slash)
				if behind := at.Column-1 > deepest; behind || !prose(x.Text) {
					continue
				}
				if n := (at.Column-1)*tabWidth + len([]rune(x.Text)); n > maxWidth {
					c.reportAt(p, x.Slash, "a comment of %d columns, wrap at 100", n)
				}
			}
		}
	}
}

// prose reports whether a line of a comment is text, or the first line of an item of a list.
func prose(line string) bool {
	return strings.HasPrefix(line, "//   - ") || strings.HasPrefix(line, "// ") && !strings.HasPrefix(line, "//  ")
}

// deepest is how many tabs a comment on a line of its own stands behind at most. What stands further to the
// right is behind code.
const deepest = 8
