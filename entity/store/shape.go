package store

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/property"
)

// shape is what a store remembers of a data type: enough to tell whether what was stored as one can
// be read as another.
type shape struct {
	Kind   string  `json:"kind"`
	Size   int     `json:"size,omitempty"`
	Key    *shape  `json:"key,omitempty"`
	Elem   *shape  `json:"of,omitempty"`
	Fields []field `json:"fields,omitempty"`
	None   bool    `json:"none,omitempty"`
}

type field struct {
	Name string `json:"name"`
	shape
}

// maxShape is how deep a shape goes. Data types nest less deep; but the store types of USER_TYPEs
// could hold each other in a ring.
const maxShape = 3 * property.MaxTypeDepth

func shapeOf(t *property.DataType, depth int) *shape {
	t = t.StoreType()
	s := &shape{Kind: t.Kind().String(), Size: t.Size(), None: t.AllowsNone()}
	if depth == maxShape {
		return s
	}
	if t.Key() != nil {
		s.Key = shapeOf(t.Key(), depth+1)
	}
	if t.Elem() != nil {
		s.Elem = shapeOf(t.Elem(), depth+1)
	}
	for _, f := range t.Fields() {
		if !f.Transient {
			s.Fields = append(s.Fields, field{f.Name, *shapeOf(f.Type, depth+1)})
		}
	}
	return s
}

// whole is the bits of a whole number and whether it has a sign.
type whole struct {
	bits   int
	signed bool
}

func wholeOf(kind string) (w whole, ok bool) {
	switch kind {
	case "INT8", "INT16", "INT32", "INT64":
		w.signed = true
	case "UINT8", "UINT16", "UINT32", "UINT64":
	case "ENTITY_ID":
		return whole{53, false}, true
	default:
		return w, false
	}
	_, err := fmt.Sscanf(kind[len(kind)-len(trimKind(kind)):], "%d", &w.bits)
	return w, err == nil
}

// trimKind is the digits at the end of a kind's name.
func trimKind(kind string) string {
	i := len(kind)
	for i > 0 && kind[i-1] >= '0' && kind[i-1] <= '9' {
		i--
	}
	return kind[i:]
}

// holds reports whether every number of old is one of w.
func (w whole) holds(old whole) bool {
	switch {
	case w.signed == old.signed:
		return w.bits >= old.bits
	case w.signed:
		return w.bits > old.bits
	}
	return false
}

// loses tells what of the values of old is lost when they are read as s; "" if nothing is. path is
// for the text.
func (s *shape) loses(old *shape, path string) string {
	if s == nil || old == nil {
		if s != old {
			return path + " is of another form"
		}
		return ""
	}
	changed := fmt.Sprintf("%s changes from %s to %s", path, old.Kind, s.Kind)
	from, fromWhole := wholeOf(old.Kind)
	to, toWhole := wholeOf(s.Kind)
	switch {
	case fromWhole && toWhole:
		if !to.holds(from) {
			return changed + ", and not every number fits"
		}
		return ""
	case fromWhole && (s.Kind == "FLOAT32" && from.bits <= 24 || s.Kind == "FLOAT64" && from.bits <= 53),
		old.Kind == "FLOAT32" && s.Kind == "FLOAT64",
		old.Kind == "UNICODE_STRING" && (s.Kind == "STRING" || s.Kind == "BLOB"),
		old.Kind == "STRING" && s.Kind == "BLOB", old.Kind == "BLOB" && s.Kind == "STRING":
		return ""
	case isList(old.Kind) && isList(s.Kind):
		if s.Size != 0 && s.Size != old.Size {
			return fmt.Sprintf("%s changes its size from %d to %d", path, old.Size, s.Size)
		}
		return s.Elem.loses(old.Elem, path+"[]")
	case old.Kind != s.Kind:
		return changed
	case s.Kind == "MAP":
		if why := s.Key.loses(old.Key, path+"[key]"); why != "" {
			return why
		}
		return s.Elem.loses(old.Elem, path+"[]")
	}
	return s.losesFields(old, path)
}

func (s *shape) losesFields(old *shape, path string) string {
	if old.None && !s.None {
		return path + " may not be None any more"
	}
	for i := range old.Fields {
		f := &old.Fields[i]
		k := slices.IndexFunc(s.Fields, func(g field) bool { return g.Name == f.Name })
		if k < 0 {
			return fmt.Sprintf("%s.%s is gone", path, f.Name)
		}
		if why := s.Fields[k].loses(&f.shape, path+"."+f.Name); why != "" {
			return why
		}
	}
	return ""
}

func isList(kind string) bool { return kind == "ARRAY" || kind == "TUPLE" }
