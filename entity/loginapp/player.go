package loginapp

import (
	"fmt"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
)

// MaxData is the longest Player.Data, in bytes: a login stays small beside the messages of a channel.
const MaxData = wire.MaxLoginData

// Player is who an Auth lets in.
type Player struct {
	// Account names the player, in 1 to 256 bytes. Two clients of one account cannot play at the same
	// time.
	Account string
	// Entity is what the player plays, if a store knows it. The zero Key leaves it to the cluster: the
	// type of players, whose identifier is the account if it is kept in a store.
	Entity store.Key
	// Data is told to the script of the proxy (entity.Base.LoginData): what an account service knows of
	// the player, in a form that the game chooses. At most MaxData bytes.
	Data []byte
}

// check tells whether a player can be passed on.
func (p *Player) check() error {
	switch {
	case p.Account == "" || len(p.Account) > wire.MaxAccount:
		return fmt.Errorf("%w: Auth returned an account of %d bytes, 1 to %d are possible", ErrUnavailable, len(p.Account), wire.MaxAccount)
	case len(p.Data) > MaxData:
		return fmt.Errorf("%w: Auth returned %d bytes of data, at most %d are possible", ErrUnavailable, len(p.Data), MaxData)
	case p.Entity != (store.Key{}) && (!p.Entity.ID.Valid() || len(p.Entity.Type) > wire.MaxTypeName):
		return fmt.Errorf("%w: Auth returned the entity %v, which is no key", ErrUnavailable, p.Entity)
	}
	return nil
}

// plays is what travels of it.
func (p *Player) plays() wire.Plays {
	return wire.Plays{Type: p.Entity.Type, Row: uint64(p.Entity.ID), Data: p.Data}
}
