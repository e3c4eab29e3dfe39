package property

import (
	"fmt"
	"slices"
)

// Exposure says which clients may call a method of the cell or base.
type Exposure uint8

// The exposures.
const (
	NotExposed Exposure = iota
	ExposedOwn          // only the entity's own client
	ExposedAll          // any client that has the entity in its area of interest; cell methods only
)

// String returns the exposure's name in a .def file, "" for NotExposed.
func (e Exposure) String() string {
	switch e {
	case ExposedOwn:
		return "OWN_CLIENT"
	case ExposedAll:
		return "ALL_CLIENTS"
	}
	return ""
}

// ReplayExposure says which recordings hold the calls of a client method.
type ReplayExposure uint8

// The replay exposures.
const (
	ReplayOther ReplayExposure = iota // recordings of what other players see; the default
	ReplayNone
	ReplayAll // recordings of the own player's view too
)

// replayNames are the names in a .def file, by exposure.
var replayNames = [...]string{ReplayOther: "OTHER_CLIENTS", ReplayNone: "NONE", ReplayAll: "ALL_CLIENTS"}

// String returns the exposure's name in a .def file.
func (e ReplayExposure) String() string {
	if int(e) < len(replayNames) {
		return replayNames[e]
	}
	return "unknown exposure"
}

// Arg is an argument or a return value of a method.
type Arg struct {
	Name string // "" in the older, unnamed style
	Type *DataType
}

// Method is a method of one side of an entity type.
type Method struct {
	Index        int // position among the methods of its side
	ExposedIndex int // position among those of its side that a client may call, those of fixed size first; or -1; assigned by NewSchema
	Name         string
	Component    string // the component that it belongs to, whose name and a dot begin Name; "" for the type itself
	Args         []Arg
	Returns      []Arg // results of a two-way call, server side only
	Exposed      Exposure
	// DetailDistance limits, in metres, who hears a client method that is broadcast; 0 means no
	// limit.
	DetailDistance float32
	SendLatestOnly bool // client methods: of the calls not sent yet only the newest is kept
	Unreliable     bool // client methods: a broadcast goes once, in a packet that may be lost
	ReplayExposure ReplayExposure
	WarnBytes      int // a call by a script of a server with more bytes of arguments is worth a warning; 0 for none

	Kept []Kept

	where position
}

// AppendArgs appends the arguments of a call. The error, ErrArgs, ErrValue or ErrLength, names
// method and argument; b is then returned as it was.
func (m *Method) AppendArgs(b []byte, args []Value) ([]byte, error) {
	return appendList(b, m.Name, m.Args, args)
}

// ReadArgs reads the arguments of a call. They must fill b exactly. Errors are ErrTruncated,
// ErrTrailing, ErrLength and ErrValue.
func (m *Method) ReadArgs(b []byte) ([]Value, error) { return readList(nil, b, m.Name, m.Args) }

// ReadArgsInto is ReadArgs into the memory of values, which it appends to. After an error values
// are as they were.
func (m *Method) ReadArgsInto(values []Value, b []byte) ([]Value, error) {
	return readList(values, b, m.Name, m.Args)
}

// AppendReturns appends the results of a two-way call, with the errors of AppendArgs.
func (m *Method) AppendReturns(b []byte, results []Value) ([]byte, error) {
	return appendList(b, m.Name, m.Returns, results)
}

// ReadReturns reads the results of a two-way call, with the errors of ReadArgs.
func (m *Method) ReadReturns(b []byte) ([]Value, error) { return readList(nil, b, m.Name, m.Returns) }

func appendList(b []byte, method string, list []Arg, values []Value) ([]byte, error) {
	if len(values) != len(list) {
		return b, fmt.Errorf("method %s: %w: %d for %d", method, ErrArgs, len(values), len(list))
	}
	start := len(b)
	for i, a := range list {
		v, err := a.Type.Fit(values[i])
		if err != nil {
			return b[:start], fmt.Errorf("method %s: argument %s: %w", method, argName(i, a), err)
		}
		b = a.Type.AppendTo(b, v)
	}
	return b, nil
}

func readList(values []Value, b []byte, method string, list []Arg) ([]Value, error) {
	start := len(values)
	values = slices.Grow(values, len(list))[:start+len(list)]
	clear(values[start:])
	for i, a := range list {
		var err error
		if b, err = a.Type.read(&values[start+i], b); err != nil {
			return values[:start], fmt.Errorf("method %s: argument %s: %w", method, argName(i, a), err)
		}
	}
	if len(b) > 0 {
		return values[:start], fmt.Errorf("method %s: %w: %d", method, ErrTrailing, len(b))
	}
	return values, nil
}

func argName(i int, a Arg) string {
	if a.Name != "" {
		return a.Name
	}
	return fmt.Sprint(i + 1)
}
