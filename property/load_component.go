package property

import (
	"fmt"
	"slices"
)

// componentUse is a component as a type lists it.
type componentUse struct {
	Component
	element *element
	// persistent false keeps nothing of the component in the store, whatever its properties say.
	persistent bool
}

// parseComponents reads <name> <Type> DEFINITION </Type> </name>.
func (l *loader) parseComponents(x *description, e *element) (uses []componentUse) {
	l.noText(e, e.name)
	l.once(e, e.name, "")
	defer l.keepIn(&x.kept, "")()
	for _, c := range e.children {
		path := e.name + "/" + c.name
		l.noText(c, path)
		l.once(c, path, "")
		use := componentUse{Component: Component{Name: c.name}, element: c, persistent: true}
		for _, f := range c.children {
			switch f.name {
			case "Type":
				l.noChildren(f, path+"/Type")
				use.Type = f.text
			case "Persistent":
				use.persistent = l.boolean(f, path)
			case "Utype":
				l.keep(f, path+"/Utype")
			default:
				l.unknown(f, path)
			}
		}
		if c.child("Type") == nil {
			l.fault(c.position, path, "component has no Type", "add <Type> with the name of its definition")
			continue
		}
		uses = append(uses, use)
	}
	return uses
}

// flatKey is what a flattened component depends on. Equal ones are shared: a component that a type
// has by two interfaces is one, not two in conflict.
type flatKey struct {
	Component
	persistent bool
}

// flat is the members of a component under their full names.
type flat struct {
	properties []*Property
	methods    [3][]*Method
}

// flatten returns the members of a component, nil if its definition cannot be read.
func (l *loader) flatten(use componentUse) *flat {
	key := flatKey{use.Component, use.persistent}
	if f, ok := l.flattened[key]; ok {
		return f
	}
	l.flattened[key] = nil
	path := "Components/" + use.Name + "/Type"
	if err := checkName(use.Type); err != nil {
		l.fault(use.element.position, path, err.Error(), nameRemedy)
		return nil
	}
	file, dialect := componentsDirBW+use.Type+defSuffix, DialectBigWorld
	if kbe := componentsDirKBE + use.Type + defSuffix; !l.exists(file) {
		if !l.exists(kbe) {
			l.fault(use.element.position, path, fmt.Sprintf("there is neither a file %s nor %s", l.root+file, l.root+kbe), missingFileRemedy)
			return nil
		}
		file, dialect = kbe, DialectKBEngine
	}
	x := l.describe(file, use.element.position, path, aComponent)
	if x == nil {
		return nil
	}
	l.evidence.note(dialect, file, x.position)
	f := &flat{}
	for _, p := range x.properties[:min(len(x.properties), MaxProperties+1)] { // one more is as wrong as a million more
		q := *p
		q.Name, q.Component = use.Name+"."+p.Name, use.Name
		if !use.persistent {
			q.Persistent, q.Identifier, q.Indexed, q.Unique = false, false, false, false
		}
		f.properties = append(f.properties, &q)
	}
	for i, methods := range [3][]*Method{x.cell, x.base, x.client} {
		for _, m := range methods[:min(len(methods), MaxMethods+1)] {
			n := *m
			n.Name, n.Component = use.Name+"."+m.Name, use.Name
			f.methods[i] = append(f.methods[i], &n)
		}
	}
	l.flattened[key] = f
	return f
}

// addComponents declares the members of a file's components after the file's own. It stops at the
// first component or member that is too many, which the check of the type reports: each makes
// copies of all members of its definition, and two files of a megabyte could take all memory.
func (l *loader) addComponents(x *description) {
	for _, use := range x.own.components {
		if len(x.components) > MaxComponents {
			return
		}
		f := l.flatten(use)
		if f == nil {
			continue
		}
		l.takeComponents(x, []Component{use.Component})
		if x.tooMany() {
			continue
		}
		x.own.properties = append(x.own.properties, f.properties...)
		for i := range x.own.methods {
			x.own.methods[i] = append(slices.Clip(x.own.methods[i]), f.methods[i]...)
		}
	}
}

// tooMany reports whether a file has more members than a type may have before it gets those of the
// next component.
func (x *description) tooMany() bool {
	many := len(x.own.properties) > MaxProperties
	for _, methods := range x.own.methods {
		many = many || len(methods) > MaxMethods
	}
	return many
}

// takeComponents adds inherited or own components to those of x.
func (l *loader) takeComponents(x *description, from []Component) {
	for _, c := range from {
		if len(x.components) > MaxComponents {
			return // the check of the type reports it
		}
		i := slices.IndexFunc(x.components, func(d Component) bool { return d.Name == c.Name })
		switch {
		case i < 0:
			x.components = append(slices.Clip(x.components), c)
		case x.components[i].Type != c.Type:
			l.fault(x.position, "Components/"+c.Name, "component is inherited as "+x.components[i].Type+" and is here "+c.Type, "rename one of the two")
		}
	}
}
