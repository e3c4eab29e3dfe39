package cluster_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// roster is an account that gives its client to a hero on any BaseApp, and lives on. It counts the
// clients that it has had.
type roster struct {
	*entity.Base
	Name property.String
	Had  property.Uint32
}

// OnEntitiesEnabled has a hero made for the client.
func (a *roster) OnEntitiesEnabled() {
	a.Had.Set(a.Had.Get() + 1)
	if err := a.CreateBase(entity.BaseInfo{Type: "Hero"}, "OnHero", 0); err != nil {
		a.Log().Error("no hero", "error", err)
	}
}

// OnHero gives it the client.
func (a *roster) OnHero(r entity.BaseReply) {
	if err := a.GiveClientTo(r.Base, "OnGiven"); err != nil {
		a.Log().Error("not given", "error", err)
	}
}

// OnGiven is told by the library.
func (a *roster) OnGiven(x entity.ClientGiven) {
	if x.Err != nil {
		a.Log().Error("not given", "error", x.Err)
	}
}

// mayfly is the hero. It ends with its client, as bases do.
type mayfly struct{ *entity.Base }

// rostersWorld is one whose accounts live on while their heroes play.
func rostersWorld(t *testing.T) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Account/> <Hero/> </root>`)},
		"entity_defs/Account.def": {Data: []byte(`<root> <Persistent> true </Persistent> <Properties>
			<name> <Type> STRING </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Identifier> true </Identifier> </name>
			<had> <Type> UINT32 </Type> <Flags> BASE_AND_CLIENT </Flags> </had>
		</Properties> <ClientMethods/> </root>`)},
		"entity_defs/Hero.def": {Data: []byte(`<root> <ClientMethods/> <BaseMethods/> </root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := world(t)
	cfg.CellScripts, cfg.BaseScripts, cfg.PlayerType, cfg.CellApps, cfg.BaseApps, cfg.Store = space.NewScripts(schema), baseapp.NewScripts(schema), "Account", 1, 2, memory.New()
	baseapp.Register[roster](cfg.BaseScripts, "Account")
	baseapp.Register[mayfly](cfg.BaseScripts, "Hero")
	return cfg
}

// A player comes back again and again to an account that lives on without a client, wherever it is and
// wherever the logins go. Its row was taken by itself, and all but the first login were refused.
func TestAccountsThatLiveOn(t *testing.T) {
	t.Parallel()
	w := started(t, rostersWorld(t))
	for n := range 6 {
		type word struct {
			kind string
			had  uint64
		}
		shown, closed := make(chan word, 4), make(chan error, 1)
		c, err := w.Connect("Ada", "sesame", client.Events{
			BasePlayer: func(own *client.Replica) {
				x := word{kind: own.Props.Definition().Name}
				if x.kind == "Account" {
					x.had = own.Props.Get(own.Props.Definition().Property("had").Index).Uint()
				}
				shown <- x
			},
			Closed: func(err error) { closed <- err },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []word{{"Account", uint64(n)}, {"Hero", 0}} {
			select {
			case got := <-shown:
				if got != want {
					t.Fatalf("login %d: shown %+v, want %+v", n, got, want)
				}
			case err := <-closed:
				t.Fatalf("login %d: refused: %v", n, err)
			case <-time.After(patience):
				t.Fatalf("login %d: never shown %+v", n, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
