package wire

import (
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// What processes show and let be set goes from an observer by the CellAppMgr:
//
//	Observer --ReadWatch, SetWatch--> CellAppMgr --the same--> process
//	         <--Watched--------------            <--Watched---
//
// Each question has the number of who asks it on that way. The manager answers itself what is of
// its own, and when the process does not.

// ReadWatch asks a process for values.
type ReadWatch struct {
	Number uint64 // of the question
	// Role and App name the process; App 0 is the only one of its role.
	Role Role
	App  uint32
	// Path is a value or, with List, what the values are under; then After is the path of the last
	// that is known.
	Path, After string
	List        bool
}

// Call implements Call.
func (m *ReadWatch) Call() *uint64 { return &m.Number }

func (m *ReadWatch) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	codeRole(c, &m.Role)
	codec.Uint32(c, &m.App)
	c.String(&m.Path, watch.MaxPath)
	c.String(&m.After, watch.MaxPath)
	c.Bool(&m.List)
}

func (m *ReadWatch) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *ReadWatch) Parse(body []byte) error { return parse(body, m, m.code) }

// SetWatch asks a process to set a value.
type SetWatch struct {
	Number uint64
	Role   Role
	App    uint32
	Path   string
	Text   string
}

// Call implements Call.
func (m *SetWatch) Call() *uint64 { return &m.Number }

func (m *SetWatch) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	codeRole(c, &m.Role)
	codec.Uint32(c, &m.App)
	c.String(&m.Path, watch.MaxPath)
	c.String(&m.Text, watch.MaxText)
}

func (m *SetWatch) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SetWatch) Parse(body []byte) error { return parse(body, m, m.code) }

// Watched answers a ReadWatch or a SetWatch.
type Watched struct {
	Number uint64
	// Fault says why there are no values, 0 that there are, and Reason more about it.
	Fault  watch.Fault
	Reason string
	Values []watch.Value
	// More says that further ones follow the last.
	More bool
}

// Call implements Call.
func (m *Watched) Call() *uint64 { return &m.Number }

func (m *Watched) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	codec.Enum(c, &m.Fault, 0, watch.LastFault)
	c.String(&m.Reason, MaxReason)
	codec.List(c, &m.Values, watch.MaxList, 4, func(c *codec.Coder, v *watch.Value) {
		c.String(&v.Path, watch.MaxPath)
		c.String(&v.Text, watch.MaxText)
		c.String(&v.About, watch.MaxAbout)
		c.Bool(&v.Writable)
	})
	c.Bool(&m.More)
}

func (m *Watched) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Watched) Parse(body []byte) error { return parse(body, m, m.code) }
