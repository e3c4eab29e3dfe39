package wire

import (
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// How a BaseApp leaves the cluster (package entity/baseapp draws the states):
//
//	app --Leaving----> BaseApps, BaseAppMgr   nothing new here, and no copies; said again each second
//	    --Depart-----> CellAppMgr             all stands still, and all copies are by the rule that it knows
//	    <--Departed---                        it is as good as dead, or: not now
//	                   CellAppMgr --AppDead-> all   the heirs go on
//
// So does a part of its bases go to others, while it stays: with a Part in the Depart, and BasesMoved instead
// of AppDead. A BaseApp does that when it leaves with many, and when it is told to (Shed):
//
//	BaseAppMgr --Shed--> app              it has many more bases than another; said again while it has

// Leaving says that the sender will leave the cluster: no base is to be made there, and no copy to be held.
type Leaving struct {
	// Bases is how many bases have yet to go.
	Bases uint32
}

func (m *Leaving) code(c *codec.Coder) { codec.Uint32(c, &m.Bases) }

func (m *Leaving) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Leaving) Parse(body []byte) error { return parse(body, m, m.code) }

// Depart asks the CellAppMgr to hand the bases of the sender, or a part of them, to their heirs. None of them
// does anything until it is answered by a Departed.
type Depart struct {
	Request uint64
	// Part says which of them; zero for all, and the sender with them.
	Part migrate.Part
}

func (m *Depart) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	m.Part.Code(c)
}

func (m *Depart) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Depart) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *Depart) Call() *uint64           { return &m.Request }

// Departed says that everyone has been told to go on with the heirs or, with a reason, that the sender of
// the Depart keeps its bases for now.
type Departed struct {
	Request uint64
	Reason  string
	// Number is of the departure of a part; see migrate.Departure.
	Number uint64
}

func (m *Departed) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.Uvarint(&m.Number)
	c.String(&m.Reason, MaxReason)
}

func (m *Departed) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Departed) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *Departed) Call() *uint64           { return &m.Request }

// BasesMoved is the manager's word that a part of the bases of an app has gone to others: see
// migrate.Departure. The app itself goes on.
type BasesMoved struct {
	App       mercury.Address
	Number    uint64
	Allocator uint32
	Rule      migrate.Rule
	Part      migrate.Part
}

// Departure is what the message says.
func (m *BasesMoved) Departure() migrate.Departure {
	return migrate.Departure{App: m.App, Number: m.Number, Allocator: m.Allocator, Rule: m.Rule, Part: m.Part}
}

func (m *BasesMoved) code(c *codec.Coder) {
	fields.Address(c, &m.App)
	c.Uvarint(&m.Number)
	codec.Uint32(c, &m.Allocator)
	m.Rule.Code(c)
	m.Part.Code(c)
	if m.Part.Turn == 0 {
		c.Fail(codec.ErrValue) // that would be the whole app, of which AppDead tells
	}
}

func (m *BasesMoved) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BasesMoved) Parse(body []byte) error { return parse(body, m, m.code) }

// Shed tells a BaseApp to give some of its bases to another one that has fewer.
type Shed struct {
	To    mercury.Address
	Bases uint32
}

func (m *Shed) code(c *codec.Coder) {
	fields.Address(c, &m.To)
	codec.Uint32(c, &m.Bases)
}

func (m *Shed) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Shed) Parse(body []byte) error { return parse(body, m, m.code) }
