package cluster_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// giver is a base that gives its client to the other one, when the client asks for that.
type giver struct {
	*entity.Base
	Other property.MailboxField
	Given property.Uint32
	asked bool `cellscape:"local"` // its client wants to go, and there is no other one yet
}

// Hand is called by the client. It may be faster than a hero that has to be made more than once.
func (g *giver) Hand() {
	if g.Other.Get() == (property.Mailbox{}) {
		g.asked = true
		return
	}
	if err := g.GiveClientTo(g.Other.Get(), "OnGiven"); err != nil {
		g.Log().Error("not given", "error", err)
	}
}

// OnGiven counts.
func (g *giver) OnGiven(x entity.ClientGiven) {
	if x.Err != nil {
		g.Log().Error("not given", "error", x.Err)
		return
	}
	g.Given.Set(g.Given.Get() + 1)
}

// Where is called by the client, too.
func (g *giver) Where() { _ = g.Client().Call("here", g.App().String(), g.Given.Get()) }

// OnCreated of an account has a hero made.
func (g *giver) OnCreated() {
	if g.Def().Name == "Account" {
		g.wantHero()
	}
}

// wantHero has one made on the BaseApp with the fewest bases.
func (g *giver) wantHero() {
	self := property.MailboxValue(property.Mailbox{Entity: uint64(g.ID())})
	init := func(v *property.Values) { _ = v.Set(0, self) }
	if err := g.CreateBase(entity.BaseInfo{Type: "Hero", Init: init}, "OnHero", 0); err != nil {
		g.Log().Error("no hero", "error", err)
	}
}

// OnHero keeps the hero. One on the account's own BaseApp is not what the test is for: players who
// have left may still be counted on the other. Then it has another made, until its own has more.
func (g *giver) OnHero(r entity.BaseReply) {
	if r.Base.At == g.App().At {
		g.wantHero()
		return
	}
	g.Other.Set(r.Base)
	if g.asked {
		g.Hand()
	}
}

// lobby is a world of two BaseApps, in which players have an account and a hero.
func lobby(t *testing.T) cluster.Config {
	t.Helper()
	def := []byte(`<root>
		<Properties> <other> <Type> MAILBOX </Type> <Flags> BASE </Flags> </other> <given> <Type> UINT32 </Type> <Flags> BASE </Flags> </given> </Properties>
		<BaseMethods> <hand> <Exposed/> </hand> <where> <Exposed/> </where> </BaseMethods>
		<ClientMethods> <here> <Arg> STRING </Arg> <Arg> UINT32 </Arg> </here> </ClientMethods>
	</root>`)
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Account/> <Hero/> </root>`)}, "entity_defs/Account.def": {Data: def}, "entity_defs/Hero.def": {Data: def},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := world(t)
	cfg.CellScripts, cfg.BaseScripts, cfg.PlayerType, cfg.BaseApps = space.NewScripts(schema), baseapp.NewScripts(schema), "Account", 2
	baseapp.Register[giver](cfg.BaseScripts, "Account")
	baseapp.Register[giver](cfg.BaseScripts, "Hero")
	return cfg
}

// A client goes from an account to a hero on another BaseApp and back, again and again, over any
// network. It stays one session.
func TestGiveClientTo(t *testing.T) {
	t.Parallel()
	cfg, roots := withDoors(t, everyDoor...)
	at := lobby(t)
	at.Key, at.Doors, at.TLS = cfg.Key, cfg.Doors, cfg.TLS
	w := started(t, at)
	for _, url := range w.LoginURLs() {
		t.Run(url[:3], func(t *testing.T) {
			type word struct {
				app   string
				given uint64
			}
			shown, heard := make(chan string, 16), make(chan word, 16)
			c := session.Config{LoginApp: url, Schema: at.CellScripts.Schema(), User: url, Password: "secret", Retry: true, Tick: cfg.Tick, TLS: roots, Events: client.Events{
				BasePlayer: func(own *client.Replica) { shown <- own.Props.Definition().Name },
				Called: func(_ *client.Replica, _ *property.Method, a []property.Value) {
					heard <- word{a[0].Str(), a[1].Uint()}
				},
				Closed: func(err error) { t.Log("closed:", err) },
			}}
			if roots == nil || url[:3] == "udp" {
				c.TLS, c.ServerKey = nil, cfg.Key.Public()
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			p, err := session.Start(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			call := func(method string) {
				t.Helper()
				if err := p.Do(func(c *client.Client) error { return c.Player().Base().Call(method) }); err != nil {
					t.Error(err)
				}
			}
			var before word
			for n := range 6 {
				select {
				case is := <-shown:
					if want := []string{"Account", "Hero"}[n%2]; is != want {
						t.Fatalf("shown %s, want %s", is, want)
					}
				case <-ctx.Done():
					t.Fatalf("never shown another entity after %d times", n)
				}
				call("where")
				select {
				case is := <-heard:
					if is.app == before.app || is.given != uint64(n/2) {
						t.Fatalf("given %d times, and before at %v: %+v", n, before, is)
					}
					before = is
				case <-ctx.Done():
					t.Fatal("never heard of it")
				}
				call("hand")
			}
		})
	}
}
