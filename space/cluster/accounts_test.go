package cluster_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/accounts"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// member is the base of a player with an account.
type member struct {
	*entity.Base
	Name  property.String
	Times property.Int32
	met   chan met `cellscape:"local"`
}

// met is what the base of a player knew when it was made.
type met struct {
	name, data string
	times      int32
}

func (m *member) OnCreated() {
	m.Times.Set(m.Times.Get() + 1)
	m.met <- met{m.Name.Get(), string(m.LoginData()), m.Times.Get()}
}

// memberCell is the cell part.
type memberCell struct{ *space.Real }

// ranked is an Auth that knows more of a player than the name.
type ranked struct{ *accounts.Accounts }

func (r ranked) Authenticate(ctx context.Context, user, password string) (loginapp.Player, error) {
	p, err := r.Accounts.Authenticate(ctx, user, password)
	p.Data = []byte("rank of " + user)
	return p, err
}

// keptWorld is one whose players and accounts a store keeps.
func keptWorld(t *testing.T, s store.Store, create bool, met chan met) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Member/> </root>`)},
		"entity_defs/Member.def": {Data: []byte(`<root> <Persistent> true </Persistent> <Properties>
			<name> <Type> STRING </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Identifier> true </Identifier> </name>
			<times> <Type> INT32 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> </times>
		</Properties> </root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[memberCell](cells, "Member")
	baseapp.Register(bases, "Member", func() *member { return &member{met: met} })
	typ, err := accounts.Type()
	if err != nil {
		t.Fatal(err)
	}
	logins, err := accounts.New(s, accounts.Config{CreateUnknown: create})
	if err != nil {
		t.Fatal(err)
	}
	cfg := world(t)
	cfg.CellScripts, cfg.BaseScripts, cfg.PlayerType, cfg.CellApps = cells, bases, "Member", 1
	cfg.Store, cfg.StoreTypes, cfg.Auth = s, []*store.Type{typ}, ranked{logins}
	return cfg
}

// TestAccounts: whoever comes first under a name makes its account, if that is the setting. After
// the world has been stopped and started, the right password brings back what was played, a wrong
// one and a new name are refused; and what the Auth says reaches the base.
func TestAccounts(t *testing.T) {
	noLeaks(t)
	s := memory.New()
	for i, x := range []struct {
		create bool
		logins []account
	}{
		{true, []account{{"Ada", "sesame", 1, ""}, {"Ben", "melon", 1, ""}}},
		{false, []account{{"Ada", "open", 0, "password"}, {"Ada", "sesame", 2, ""}, {"Cem", "sesame", 0, "password"}}},
		{true, []account{{"Ben", "sesame", 0, "password"}, {"Cem", "poppy", 1, ""}, {"Ada", "sesame", 3, ""}}},
	} {
		met := make(chan met, 8)
		c, err := cluster.Start(context.Background(), keptWorld(t, s, x.create, met))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range x.logins {
			a.try(t, i, c, met)
		}
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// account is a login, and what is to come of it: how often it has played, or why it may not.
type account struct {
	name, password string
	times          int32
	refused        string
}

func (a *account) try(t *testing.T, start int, c *cluster.Cluster, came chan met) {
	t.Helper()
	closed := make(chan error, 1)
	_, err := c.Connect(a.name, a.password, client.Events{Closed: func(err error) { closed <- err }})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-came:
		if want := (met{a.name, "rank of " + a.name, a.times}); got != want {
			t.Errorf("start %d, %s: %+v, want %+v", start, a.name, got, want)
		}
	case err := <-closed:
		if a.refused == "" || err == nil || !strings.Contains(err.Error(), a.refused) {
			t.Errorf("start %d, %s: refused as %v, want %q", start, a.name, err, a.refused)
		}
	case <-time.After(patience):
		t.Fatalf("start %d: no word about %s", start, a.name)
	}
}
