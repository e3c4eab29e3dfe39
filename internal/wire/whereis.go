package wire

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// Whereis asks the BaseApp that issued an entity's id where the entity's real is, for another entity
// that is to be teleported near to it. It is asked again until it is answered, or until the teleport
// is given up.
type Whereis struct {
	ID    entity.ID
	Asker entity.ID // echoed in Whereabouts
}

func (m *Whereis) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.ID(c, &m.Asker)
}

func (m *Whereis) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Whereis) Parse(body []byte) error { return parse(body, m, m.code) }

// Whereabouts answers a Whereis. App is zero if the base does not know it now.
type Whereabouts struct {
	ID, Asker entity.ID
	App       mercury.Address
	// Gone means that there is no such entity, or that it has no cell part.
	Gone bool
}

func (m *Whereabouts) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.ID(c, &m.Asker)
	fields.Address(c, &m.App)
	c.Bool(&m.Gone)
}

func (m *Whereabouts) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Whereabouts) Parse(body []byte) error { return parse(body, m, m.code) }
