package archtest

import (
	"go/ast"
	"os"
	"strings"
	"unicode/utf8"

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
		src, err := os.ReadFile(p.Fset.Position(f.Package).Filename)
		if err != nil {
			c.reportAt(p, f.Package, "cannot be read: %v", err)
			continue
		}
		lines := strings.Split(string(src), "\n")
		for _, g := range f.Comments {
			for _, x := range g.List { // the comments tell what is one: a string may have lines like them
				at := p.Fset.Position(x.Slash)
				line := lines[at.Line-1]
				if !prose(strings.TrimLeft(line, "\t")) {
					continue
				}
				if n := utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t"); n > maxWidth {
					c.reportAt(p, x.Slash, "a comment of %d columns, wrap at 100", n)
				}
			}
		}
	}
}

// prose reports whether a line is the text of a comment, or the first line of an item of a list in it.
func prose(line string) bool {
	return strings.HasPrefix(line, "//   - ") || strings.HasPrefix(line, "// ") && !strings.HasPrefix(line, "//  ")
}
