package archtest

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// checkShown reports exported names whose type needs one of an internal package: whoever imports the
// library reads it in go doc and cannot name it. The table of shown types has the exceptions.
func (c *checker) checkShown(p *packages.Package, name string) {
	if internalPath(name) || p.Name == "main" {
		return
	}
	scope := p.Types.Scope()
	for _, n := range scope.Names() {
		obj := scope.Lookup(n)
		if !obj.Exported() {
			continue
		}
		if _, isType := obj.(*types.TypeName); !isType {
			c.checkShownType(p, obj, n, obj.Type())
			continue
		}
		c.checkShownMembers(p, obj, n)
	}
}

func (c *checker) checkShownMembers(p *packages.Package, obj types.Object, name string) {
	if x, ok := obj.Type().Underlying().(*types.Struct); ok {
		for f := range x.Fields() {
			if f.Exported() {
				c.checkShownType(p, f, name+"."+f.Name(), f.Type())
			}
		}
	} else {
		c.checkShownType(p, obj, name, obj.Type().Underlying())
	}
	if named, ok := types.Unalias(obj.Type()).(*types.Named); ok {
		for m := range named.Methods() {
			if m.Exported() {
				c.checkShownType(p, m, name+"."+m.Name(), m.Type())
			}
		}
	}
}

func (c *checker) checkShownType(p *packages.Package, obj types.Object, name string, t types.Type) {
	for _, hidden := range slices.Compact(hiddenTypes(p, t)) {
		if c.shown.has(local(p.Module.Path, p.PkgPath) + "." + name) {
			continue
		}
		c.reportAt(p, obj.Pos(), "%s shows %s, which nobody outside can name", name, hidden)
	}
}

// hiddenTypes lists what an exported type or signature is made of that belongs to an internal package of
// the module. It does not look into named types: those are checked where they are declared.
func hiddenTypes(p *packages.Package, t types.Type) (list []string) {
	each := func(ts ...types.Type) {
		for _, x := range ts {
			list = append(list, hiddenTypes(p, x)...)
		}
	}
	switch x := types.Unalias(t).(type) {
	case *types.Named:
		if pkg := x.Obj().Pkg(); pkg != nil && p.Module != nil && strings.HasPrefix(pkg.Path(), p.Module.Path) && internalPath(local(p.Module.Path, pkg.Path())) {
			list = append(list, pkg.Name()+"."+x.Obj().Name())
		}
		for a := range x.TypeArgs().Types() {
			each(a)
		}
	case *types.Pointer:
		each(x.Elem())
	case *types.Slice:
		each(x.Elem())
	case *types.Array:
		each(x.Elem())
	case *types.Chan:
		each(x.Elem())
	case *types.Map:
		each(x.Key(), x.Elem())
	case *types.Signature:
		for v := range x.Params().Variables() {
			each(v.Type())
		}
		for v := range x.Results().Variables() {
			each(v.Type())
		}
	case *types.Interface:
		for m := range x.Methods() {
			if token.IsExported(m.Name()) {
				each(m.Type())
			}
		}
	}
	return list
}

// internalPath reports whether a package is below a folder "internal".
func internalPath(name string) bool {
	return slices.Contains(strings.Split(name, "/"), "internal")
}
