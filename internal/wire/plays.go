package wire

import "github.com/cellscape/cellscape/internal/codec"

const (
	// MaxLoginData bounds what an Auth says to the script of a new proxy: a login is no way to load an
	// inventory.
	MaxLoginData = 16 << 10

	// MaxTypeName bounds the name of a type where it travels by name.
	MaxTypeName = 256
)

// Plays is what a login knows of the player besides the account.
type Plays struct {
	// Type and Row name the row of the entity; without a Row it is the type of players.
	Type string
	Row  uint64
	// Data is for the script.
	Data []byte
}

func (p *Plays) code(c *codec.Coder) {
	c.String(&p.Type, MaxTypeName)
	c.Uvarint(&p.Row)
	c.Bytes(&p.Data, MaxLoginData)
}
