package property

import (
	"fmt"
	"slices"
)

// MissingType is a USER_TYPE of a tree for which no codec was given.
type MissingType struct {
	Name  string   `json:"name"`  // what the tree calls it in implementedBy
	Where []string `json:"where"` // the elements that name it, as file:line: element
}

// parseUserType finds the type that the program gives for the name by which a tree calls it. A
// stand-in takes the place of one that is not given, and all else is checked.
func (l *loader) parseUserType(e *element, path string) *DataType {
	l.noChildren(e, path, "implementedBy", "Default")
	by := e.child("implementedBy")
	if by == nil || by.text == "" {
		l.fault(e.position, path, "USER_TYPE without implementedBy", "add <implementedBy> NAME </implementedBy>")
		return nil
	}
	l.noChildren(by, path+"/implementedBy")
	if t := l.options.UserTypes[by.text]; t != nil {
		return t
	}
	t, known := l.standIns[by.text]
	if !known {
		t = newStandIn(by.text)
		if l.standIns == nil {
			l.standIns = make(map[string]*DataType)
		}
		l.standIns[by.text] = t
	}
	l.missing = append(l.missing, missingUse{by.text, by.position, path + "/implementedBy"})
	return t
}

// missingUse is an element that names a USER_TYPE for which no codec was given.
type missingUse struct {
	name string
	at   position
	path string
}

// tellMissing reports the USER_TYPEs that stand-ins stand for: as faults, or as notices of a survey
// that has no faults.
func (l *loader) tellMissing() (types []MissingType) {
	tell := l.fault
	if l.options.Survey && len(l.faults) == 0 {
		tell = l.notice
	}
	for _, m := range l.missing {
		tell(m.at, m.path, fmt.Sprintf("USER_TYPE %s needs a codec in Go, and none is given", shorten(m.name)),
			"write a property.UserCodec, and give what property.NewUserType makes of it in Options.UserTypes under this name")
		where := fmt.Sprintf("%v: %s", m.at, m.path)
		i := slices.IndexFunc(types, func(t MissingType) bool { return t.Name == m.name })
		switch {
		case i < 0:
			types = append(types, MissingType{m.name, []string{where}})
		case !slices.Contains(types[i].Where, where):
			types[i].Where = append(types[i].Where, where)
		}
	}
	return types
}

// standIn is the codec of a USER_TYPE that a tree names and the program does not give: any bytes.
type standIn struct{}

func newStandIn(name string) *DataType {
	t, err := NewUserType[[]byte](name, standIn{})
	if err != nil {
		panic(err) // no bytes at all are always in its bounds
	}
	return t
}

// isStandIn reports whether t stands for a USER_TYPE that is not given.
func (t *DataType) isStandIn() bool {
	u, ok := t.user.(*userType[[]byte])
	return ok && u.codec == UserCodec[[]byte](standIn{})
}

func (standIn) Default() []byte                           { return nil }
func (standIn) Append(b []byte, x []byte) ([]byte, error) { return append(b, x...), nil }
func (standIn) Read(b []byte) (x, rest []byte, err error) { return slices.Clone(b), nil, nil }
func (standIn) StoreType() *DataType                      { return Scalar(KindBlob) }
func (standIn) ToStore(x []byte) (Value, error)           { return Bytes(x), nil }
func (standIn) FromStore(v Value) ([]byte, error)         { return v.Bytes(), nil }
