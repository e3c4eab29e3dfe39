package wire

import (
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// How a death is found out and told:
//
//	manager --Look----> witnesses     does the place of this app answer you?
//	        <---Seen---
//	        --AppDead-> all           the verdict; a BaseApp is told which CellApps mourn
//	                    CellApp --Mourned--> BaseApps   nothing more will come of that app's reals
//
// A Look or a Seen that is lost is an opinion less; without enough of them only silence tells. A
// Mourned that is lost costs the bases a wait of half a second.

// Look asks a CellApp or BaseApp whether it can reach the place of another app.
type Look struct {
	// Inquiry is for the answer.
	Inquiry uint64
	App     mercury.Address
}

func (m *Look) code(c *codec.Coder) {
	c.Uvarint(&m.Inquiry)
	fields.Address(c, &m.App)
}

func (m *Look) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Look) Parse(body []byte) error { return parse(body, m, m.code) }

// Seen answers a Look.
type Seen struct {
	Inquiry uint64
	App     mercury.Address
	Reach   mercury.Reach
}

func (m *Seen) code(c *codec.Coder) {
	c.Uvarint(&m.Inquiry)
	fields.Address(c, &m.App)
	codec.Enum(c, &m.Reach, mercury.ReachUnknown, mercury.ReachSilent)
}

func (m *Seen) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Seen) Parse(body []byte) error { return parse(body, m, m.code) }

// Mourned tells a BaseApp that a CellApp has acted on the death of another. What it knows of the
// dead app's reals has gone before, on the same channel: copies of those that it handed over to it,
// and where those are that it took over. What the dead app has sent it does not hear any more.
type Mourned struct{ App mercury.Address }

func (m *Mourned) code(c *codec.Coder) { fields.Address(c, &m.App) }

func (m *Mourned) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Mourned) Parse(body []byte) error { return parse(body, m, m.code) }
