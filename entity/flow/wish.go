package flow

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// A cell part wishes for what only its base can ask the BaseAppMgr for. A wish is a two-way call of the
// own base, whose method no script has: the base itself answers it, with a Grant.
const (
	// WishForBase asks for a new base: Type, On and Props.
	WishForBase uint16 = 0xff00 + iota
	// WishForName asks for a name of the own base, WishForHolder who has a name: Name.
	WishForName
	WishForHolder
	wishEnds
)

// IsWish reports whether a method is of a wish.
func IsWish(method uint16) bool { return method >= WishForBase && method < wishEnds }

// Wish is the arguments of a wish.
type Wish struct {
	Name string
	// Type, On and Props say which base to make, and where; On is zero for the least loaded BaseApp.
	Type  uint16
	On    mercury.Address
	Props []byte // property.BaseStream, packed; aliases the input after Parse
}

func (m *Wish) code(c *codec.Coder) {
	c.String(&m.Name, limits.BaseName)
	c.U16(&m.Type)
	fields.Address(c, &m.On)
	c.Rest(&m.Props, MaxArguments)
}

// Append encodes m.
func (m *Wish) Append(b []byte) []byte { return codec.Append(b, m.code) }

// Parse decodes m from all of b.
func (m *Wish) Parse(b []byte) error { return parseWish(b, "wish", m.code) }

// Grant is the result of a wish: the base that was made, or that has the name.
type Grant struct {
	Name string
	// ID is 0 if there is no such base.
	ID     entity.ID
	Type   uint16
	App    mercury.Address
	Reason string
}

func (m *Grant) code(c *codec.Coder) {
	c.String(&m.Name, limits.BaseName)
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	fields.Address(c, &m.App)
	c.String(&m.Reason, limits.ErrorText)
}

// Append encodes m.
func (m *Grant) Append(b []byte) []byte { return codec.Append(b, m.code) }

// Parse decodes m from all of b.
func (m *Grant) Parse(b []byte) error { return parseWish(b, "grant", m.code) }

func parseWish(b []byte, name string, code func(*codec.Coder)) error {
	if err := codec.Parse(b, code); err != nil {
		return fmt.Errorf("flow: %s: %w", name, err)
	}
	return nil
}
