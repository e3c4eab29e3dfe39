package property

import (
	"fmt"
	"strconv"
	"strings"
)

// noText reports text where only elements mean something.
func (l *loader) noText(e *element, path string) {
	if e.text != "" {
		l.fault(e.position, path, fmt.Sprintf("text %q between elements", shorten(e.text)), "remove it")
	}
}

// noChildren reports elements where only text means something, but for those allowed.
func (l *loader) noChildren(e *element, path string, allowed ...string) {
next:
	for _, c := range e.children {
		for _, a := range allowed {
			if c.name == a {
				continue next
			}
		}
		l.unknown(c, path)
	}
}

// noAttributes reports attributes; only types in the list have any.
func (l *loader) noAttributes(e *element, path string) {
	for _, a := range e.attrs {
		l.fault(e.position, path, fmt.Sprintf("unknown attribute %q", shorten(a.Name.Local)), "remove it")
	}
}

// noAttributesBelow reports attributes of an element and of all in it.
func (l *loader) noAttributesBelow(e *element) {
	if len(e.attrs) > 0 {
		l.noAttributes(e, e.name)
	}
	for _, c := range e.children {
		l.noAttributesBelow(c)
	}
}

// unknown reports an element that the dialect does not have there.
func (l *loader) unknown(e *element, path string) {
	l.fault(e.position, path+"/"+e.name, unknownElement, unknownRemedy)
}

// once reports children that are given again, but for repeatable ones. A few are compared with each
// other, many counted in a map: comparing all pairs of a file full of elements would take minutes.
func (l *loader) once(e *element, path, repeatable string) {
	const few = 24
	var seen map[string]bool
	if len(e.children) > few {
		seen = make(map[string]bool, len(e.children))
	}
	for i, c := range e.children {
		if c.name == repeatable {
			continue
		}
		twice := seen[c.name]
		if seen != nil {
			seen[c.name] = true
		} else {
			for _, b := range e.children[:i] {
				twice = twice || b.name == c.name
			}
		}
		if twice {
			l.fault(c.position, path+"/"+c.name, "element is given twice", removeOneRemedy)
		}
	}
}

// boolean reads an element's text, false with a fault if it is neither true nor false.
func (l *loader) boolean(e *element, path string) bool {
	b, ok := parseBool(e.text)
	if !ok {
		l.notBoolean(e, strings.TrimPrefix(path+"/"+e.name, "/"))
	}
	if len(e.children) > 0 {
		l.noChildren(e, strings.TrimPrefix(path+"/"+e.name, "/"))
	}
	return b
}

func (l *loader) notBoolean(e *element, path string) {
	l.fault(e.position, path, fmt.Sprintf("%q is neither true nor false", shorten(e.text)), "state true or false")
}

func parseBool(s string) (value, ok bool) {
	switch s {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// metres reads an element's text as a distance; whether it is a sensible one is checked with the
// whole type.
func (l *loader) metres(e *element, path string) float32 {
	f, err := strconv.ParseFloat(e.text, 32)
	if err != nil || f-f != 0 {
		l.fault(e.position, path, fmt.Sprintf("%q is not a distance", shorten(e.text)), "state metres")
		return 1
	}
	return float32(f)
}

// length reads an element's text as the length of a column.
func (l *loader) length(e *element, path string) int {
	n, err := strconv.ParseUint(e.text, 10, 31)
	if err != nil {
		l.fault(e.position, path, fmt.Sprintf("%q is not a length", shorten(e.text)), "state bytes, or characters of a UNICODE_STRING")
	}
	return int(n)
}

// warnBytes reads the size that the original expects of a message's length field, and so the
// largest message that takes no more than that: a longer one is sent, and warned of.
func (l *loader) warnBytes(e *element, path string) int {
	l.noChildren(e, path, "WarnLevel")
	if w := e.child("WarnLevel"); w != nil {
		l.keep(w, path+"/WarnLevel")
	}
	n, err := strconv.ParseUint(e.text, 10, 8)
	if err != nil || n < 1 || n > 4 {
		l.fault(e.position, path, fmt.Sprintf("%q is not the size of a length", shorten(e.text)), "state 1, 2, 3 or 4 bytes")
		return 0
	}
	return int(min(uint64(1)<<(8*n)-1, MaxPayload))
}

// keeper is where elements go that have no meaning on a server.
type keeper struct {
	list *[]Kept
	base int // length of the path of what the list belongs to, with its slash
}

// keepIn makes list the place for what is kept, and returns what puts the former one back. prefix
// is the path of what the list belongs to, with its slash.
func (l *loader) keepIn(list *[]Kept, prefix string) (restore func()) {
	before := l.keeper
	l.keeper = keeper{list, len(prefix)}
	return func() { l.keeper = before }
}

// keep keeps an element for tools.
func (l *loader) keep(e *element, path string) {
	l.evidence.note(dialectOfElement(e.name), e.name, e.position)
	if l.keeper.list == nil {
		return
	}
	*l.keeper.list = append(*l.keeper.list, Kept{path[l.keeper.base:], e.inner()})
}

func shorten(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
