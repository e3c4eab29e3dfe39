package property

import (
	"fmt"

	"github.com/cellscape/cellscape/property/internal/literal"
)

// parseValue reads a value of type t as a Default holds it; [DataType.AppendText] says in what
// form.
func (l *loader) parseValue(t *DataType, e *element, path string) (Value, bool) {
	bare := !l.textOnly && len(e.children) == 0 // of a tree, and without elements
	switch {
	case bare && e.text == "" && t.width > 0:
		return kindTable[t.kind].def, true // the original takes it for zero
	case bare && e.text != "" && !t.isStandIn() && t.StoreType().composite():
		return l.parseLiteralOf(t, e, path)
	}
	v, ok := t.form.parse(l, t, e, path)
	if scalars[t.kind] == nil {
		return v, ok
	}
	if ok {
		var err error
		v, err = t.Fit(v)
		ok = err == nil
	}
	if !ok {
		l.badValue(t, e, path)
	}
	return v, ok
}

// parseLiteralOf reads a composite value that is written as a literal of the original's script
// language: [1, 2].
func (l *loader) parseLiteralOf(t *DataType, e *element, path string) (Value, bool) {
	x, err := literal.Parse(e.text)
	var v Value
	if err == nil {
		v, err = t.form.literal(t, x)
	}
	if err != nil {
		l.fault(e.position, path, fmt.Sprintf("%q is not a %v: %v", shorten(e.text), t, err), "state it as elements, or as a literal of lists, dictionaries, numbers and strings")
	}
	return v, err == nil
}

func (l *loader) badValue(t *DataType, e *element, path string) {
	remedy := "state a value of that type"
	if t.kind == KindAny {
		remedy = "state a JSON value"
	}
	l.fault(e.position, path, fmt.Sprintf("%q is not a %v", shorten(e.text), t), remedy)
}

// isList reports whether an element can hold the elements of a list, and faults it if not.
func (l *loader) isList(e *element, path string) bool {
	l.noText(e, path)
	if n := len(e.children); n > MaxList {
		l.fault(e.position, path, fmt.Sprintf("%d elements, more than %d", n, MaxList), "shorten the default")
		return false
	}
	return true
}

func itemPath(path string, item *element, i int) string {
	return fmt.Sprintf("%s/%s[%d]", path, item.name, i)
}
