package archtest

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// forbiddenImport returns why a pure package may not import path, or "".
func forbiddenImport(path string) string {
	switch path {
	case "net", "net/http", "net/rpc", "os", "os/exec", "os/signal", "os/user", "syscall":
		return "the outside world is met in adapters"
	case "sync", "sync/atomic":
		return "one goroutine owns an app, there is nothing to lock"
	case "crypto/rand", "hash/maphash":
		return "it differs from run to run; chance is a *rand.Rand that is handed in"
	}
	return ""
}

// forbiddenUse returns why a pure package may not use a function of the standard library, or "".
// name has the form of [types.Func.FullName].
func forbiddenUse(name string) string {
	switch name {
	case "time.Now", "time.Since", "time.Until", "time.Sleep",
		"time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
		"context.WithTimeout", "context.WithDeadline", "context.WithTimeoutCause", "context.WithDeadlineCause":
		return "time is an argument"
	case "(*sync.Map).Range":
		return "the order of a map differs from run to run"
	}
	for _, pkg := range []string{"math/rand.", "math/rand/v2."} {
		if f, ok := strings.CutPrefix(name, pkg); ok && !strings.HasPrefix(f, "New") {
			return "it draws from the process's source; chance is a *rand.Rand that is handed in"
		}
	}
	return ""
}

// showsMapOrder reports whether a function yields a map's entries in the map's order.
func showsMapOrder(name string) bool {
	switch name {
	case "maps.Keys", "maps.Values", "maps.All", "(reflect.Value).MapRange", "(reflect.Value).MapKeys":
		return true
	}
	return false
}

// hidesOrder reports whether a function sorts its argument.
func hidesOrder(name string) bool {
	return name == "slices.Sorted" || name == "slices.SortedFunc" || name == "slices.SortedStableFunc"
}

// traps looks for traps in one file.
type traps struct {
	*checker
	pkg     *packages.Package
	name    string
	sorted  map[*ast.Ident]bool // calls of maps.Keys and its kin whose result is sorted at once
	markers map[int]*marker     // by the line below the comment
}

// marker is a comment that says why the order of a map does not show.
type marker struct {
	pos  token.Pos
	used bool
}

const markerText = "// order does not show:"

func (c *checker) checkTraps(p *packages.Package, name string) {
	for _, f := range p.Syntax {
		if c.impure.has(c.below(p.Fset.Position(f.Package).Filename)) {
			continue // a file that meets the outside in a package that does not
		}
		t := &traps{checker: c, pkg: p, name: name, sorted: map[*ast.Ident]bool{}, markers: map[int]*marker{}}
		t.readMarkers(f)
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if why := forbiddenImport(path); why != "" {
				t.at(spec, "import of %s: %s", path, why)
			}
		}
		t.declarations(f)
		ast.Inspect(f, t.visit)
		for _, m := range t.markers {
			if !m.used {
				c.reportAt(p, m.pos, "this comment marks no range over a map")
			}
		}
	}
}

func (t *traps) at(n ast.Node, format string, args ...any) {
	t.reportAt(t.pkg, n.Pos(), format, args...)
}

func (t *traps) readMarkers(f *ast.File) {
	for _, group := range f.Comments {
		for _, comment := range group.List {
			why, ok := strings.CutPrefix(comment.Text, markerText)
			if !ok {
				continue
			}
			if strings.TrimSpace(why) == "" {
				t.at(comment, "this comment gives no reason")
			}
			t.markers[t.pkg.Fset.Position(group.End()).Line+1] = &marker{pos: comment.Pos()}
		}
	}
}

// orderShows reports a node that shows the order of a map, unless a comment above says why that
// does not matter.
func (t *traps) orderShows(n ast.Node, what string) {
	if m := t.markers[t.pkg.Fset.Position(n.Pos()).Line]; m != nil {
		m.used = true
		return
	}
	t.at(n, "%s: the order differs from run to run; sort the keys, or keep a slice beside the map", what)
}

// declarations checks the top level for state that exists without having been made.
func (t *traps) declarations(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				t.at(d, "func init: nothing runs before it is called")
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					t.variable(id)
				}
			}
		}
	}
}

func (t *traps) variable(id *ast.Ident) {
	if id.Name == "_" {
		return
	}
	typ := t.pkg.TypesInfo.Defs[id].Type()
	if types.Identical(typ, types.Universe.Lookup("error").Type()) || typ.String() == "embed.FS" {
		return
	}
	if !t.variables.has(t.name + "." + id.Name) {
		t.at(id, "package-level variable %s: state belongs in a struct; a table that is never written is named in house.go with its reason", id.Name)
	}
}

// written reports an expression that is assigned to if it is, or lies within, a package-level
// variable.
func (t *traps) written(x ast.Expr) {
	var id *ast.Ident
	for id == nil {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
			if in, ok := e.X.(*ast.Ident); ok && isPackage(t.pkg.TypesInfo.Uses[in]) {
				id = e.Sel
			}
		case *ast.Ident:
			id = e
		default:
			return
		}
	}
	if v, ok := t.pkg.TypesInfo.Uses[id].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		t.at(id, "package-level variable %s is written: state belongs in a struct", id.Name)
	}
}

func isPackage(o types.Object) bool {
	_, ok := o.(*types.PkgName)
	return ok
}

func (t *traps) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		t.at(n, "go statement: the runner owns the goroutines")
	case *ast.RangeStmt:
		if isMap(t.pkg.TypesInfo.TypeOf(n.X)) {
			t.orderShows(n, "range over a map")
		}
	case *ast.ExprStmt:
		t.discarded(n.X)
	case *ast.AssignStmt:
		for _, x := range n.Lhs {
			t.written(x)
		}
		if id, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident); ok && id.Name == "_" && len(n.Rhs) == 1 {
			t.discarded(n.Rhs[0])
		}
	case *ast.IncDecStmt:
		t.written(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			t.written(n.X) // whoever holds the address may write
		}
	case *ast.CallExpr:
		t.call(n)
	case *ast.Ident:
		t.use(n)
	}
	return true
}

// discarded reports a send on a transport whose error nobody looks at: the message is lost without
// a count.
func (t *traps) discarded(x ast.Expr) {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return
	}
	id := callee(call)
	if id == nil || !strings.HasPrefix(id.Name, "Send") {
		return
	}
	f, ok := t.pkg.TypesInfo.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil || !strings.HasSuffix(f.Pkg().Path(), "mercury") {
		return
	}
	if r := f.Signature().Results(); r.Len() > 0 && types.Identical(r.At(r.Len()-1).Type(), types.Universe.Lookup("error").Type()) {
		t.at(x, "the error of %s is thrown away: count it, or send by app.Links, which does", id.Name)
	}
}

func (t *traps) use(id *ast.Ident) {
	f, ok := t.pkg.TypesInfo.Uses[id].(*types.Func)
	if !ok {
		return
	}
	name := f.Origin().FullName()
	if why := forbiddenUse(name); why != "" {
		t.at(id, "use of %s: %s", name, why)
	}
	if showsMapOrder(name) && !t.sorted[id] {
		t.orderShows(id, "use of "+name)
	}
}

func (t *traps) call(call *ast.CallExpr) {
	id := callee(call)
	if id == nil {
		return
	}
	if f, ok := t.pkg.TypesInfo.Uses[id].(*types.Func); ok && hidesOrder(f.Origin().FullName()) {
		if inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr); ok {
			t.sorted[callee(inner)] = true // visited after this call, since it is within
		}
	}
	if b, ok := t.pkg.TypesInfo.Uses[id].(*types.Builtin); ok {
		switch b.Name() {
		case "delete", "clear", "copy":
			t.written(call.Args[0])
		}
	}
	if format, ok := t.format(call); ok && pointerVerb(format) {
		t.at(call, "%%p in a format: addresses differ from run to run")
	}
}

// callee returns the name by which a call names its function, or nil.
func callee(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}

// format returns the constant format of a call of a function like Printf, which ends in (format
// string, args ...any).
func (t *traps) format(call *ast.CallExpr) (string, bool) {
	sig, ok := t.pkg.TypesInfo.TypeOf(call.Fun).(*types.Signature)
	if !ok || !sig.Variadic() || sig.Params().Len() < 2 {
		return "", false
	}
	params := sig.Params()
	at := params.Len() - 2
	rest, ok := params.At(at + 1).Type().(*types.Slice)
	if !ok || !types.IsInterface(rest.Elem()) || at >= len(call.Args) {
		return "", false
	}
	v := t.pkg.TypesInfo.Types[call.Args[at]].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

func pointerVerb(format string) bool {
	pointer := regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)
	return pointer.MatchString(strings.ReplaceAll(format, "%%", ""))
}

// isMap reports whether t is a map, or a type parameter that may be one.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.(*types.TypeParam); ok {
		return mayBeMap(p.Constraint())
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func mayBeMap(constraint types.Type) bool {
	iface, ok := constraint.Underlying().(*types.Interface)
	if !ok {
		return isMap(constraint)
	}
	for i := range iface.NumEmbeddeds() {
		union, ok := iface.EmbeddedType(i).(*types.Union)
		if !ok {
			if mayBeMap(iface.EmbeddedType(i)) {
				return true
			}
			continue
		}
		for j := range union.Len() {
			if mayBeMap(union.Term(j).Type()) {
				return true
			}
		}
	}
	return false
}
