package loginapp

import (
	"context"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
)

// playerAuth is an Auth that lets in one player.
type playerAuth Player

func (a playerAuth) Authenticate(context.Context, string, string) (Player, error) {
	return Player(a), nil
}

// TestPlayer checks that what an Auth knows of a player goes on with the login, and that nothing does
// which has no room there.
func TestPlayer(t *testing.T) {
	for name, x := range map[string]struct {
		player Player
		want   protocol.Code
	}{
		"full":     {Player{Account: "ann", Entity: store.Key{Type: "Avatar", ID: 7}, Data: []byte("vip")}, 0},
		"data":     {Player{Account: "ann", Data: make([]byte, MaxData+1)}, protocol.ServerBusy},
		"no id":    {Player{Account: "ann", Entity: store.Key{Type: "Avatar"}}, protocol.ServerBusy},
		"bad type": {Player{Account: "ann", Entity: store.Key{Type: strings.Repeat("x", wire.MaxTypeName+1), ID: 7}}, protocol.ServerBusy},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Auth = playerAuth(x.player) })
			r.join()
			ch := r.connect()
			r.say(ch, r.login("ann", "right"))
			r.work()
			if x.want != 0 {
				r.wantRefused(ch, x.want)
				return
			}
			if c := r.created(); c.Account != "ann" || c.Type != "Avatar" || c.Row != 7 || string(c.Data) != "vip" {
				t.Errorf("%+v goes on as %+v", x.player, c)
			}
		})
	}
}
