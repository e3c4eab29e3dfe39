package wire

import "github.com/cellscape/cellscape/internal/codec"

// How a BaseApp leaves the cluster (package entity/baseapp draws the states):
//
//	app --Leaving----> BaseApps, BaseAppMgr   nothing new here, and no copies; said again each second
//	    --Depart-----> CellAppMgr             all stands still, and all copies are by the rule that it knows
//	    <--Departed---                        it is as good as dead, or: not now
//	                   CellAppMgr --AppDead-> all   the heirs go on

// Leaving says that the sender will leave the cluster: no base is to be made there, and no copy to be held.
type Leaving struct {
	// Bases is how many bases have yet to go.
	Bases uint32
}

func (m *Leaving) code(c *codec.Coder) { codec.Uint32(c, &m.Bases) }

// Append and Parse are what code describes.
func (m *Leaving) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Leaving) Parse(body []byte) error { return parse(body, m, m.code) }

// Depart asks the CellAppMgr to hand the bases of the sender to their heirs. None of them does anything
// until it is answered by a Departed.
type Depart struct{ Request uint64 }

func (m *Depart) code(c *codec.Coder) { c.Uvarint(&m.Request) }

// Append and Parse are what code describes.
func (m *Depart) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Depart) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *Depart) Call() *uint64           { return &m.Request }

// Departed says that everyone has been told to go on with the heirs or, with a reason, that the sender of
// the Depart keeps its bases for now.
type Departed struct {
	Request uint64
	Reason  string
}

func (m *Departed) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Reason, MaxReason)
}

// Append and Parse are what code describes.
func (m *Departed) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Departed) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *Departed) Call() *uint64           { return &m.Request }
