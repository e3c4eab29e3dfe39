package cluster_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// smithies are what a test hears of the smithy of the world.
type smithies struct {
	mu                   sync.Mutex
	created, told, cells int
	restored             int
	strikes              int64
	holder               property.Mailbox
	fault                error
	lived                entity.ID
}

func (s *smithies) note(f func(*smithies)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *smithies) is(f func(*smithies) bool) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return f(s)
	}
}

// smithy is an entity of which the world is to have one.
type smithy struct {
	*entity.Base
	Name    property.String
	Strikes property.Int64
	seen    *smithies `cellscape:"local"`
}

func (m *smithy) OnCreated() {
	m.seen.note(func(s *smithies) { s.created++; s.strikes = m.Strikes.Get() })
	if m.Row() == 0 {
		_ = m.CreateCell(1, property.Vector3{X: 7}, property.Vector3{}, nil)
	}
	_, _ = m.AddTimer(20*time.Millisecond, 20*time.Millisecond, "OnBeat", 0)
}

func (m *smithy) OnRestored()            { m.seen.note(func(s *smithies) { s.restored++ }) }
func (m *smithy) OnBeat(entity.Callback) { m.Strikes.Set(m.Strikes.Get() + 1) }

type anvil struct {
	*space.Real
	seen *smithies `cellscape:"local"`
}

func (a *anvil) OnCreated() { a.seen.note(func(s *smithies) { s.cells++; s.lived = a.ID() }) }

// smithyWorld has two BaseApps, which both want the smithy.
func smithyWorld(t *testing.T, file string, seen *smithies) cluster.Config {
	t.Helper()
	cfg := world(t)
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar hasCell="true" hasBase="true" hasClient="true"/> <Smithy hasCell="true" hasBase="true" hasClient="false"/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root> <Persistent> false </Persistent> </root>`)},
		"entity_defs/Smithy.def": {Data: []byte(`<root> <Persistent> true </Persistent> <Properties>
			<name> <Type> STRING </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Identifier> true </Identifier> </name>
			<strikes> <Type> INT64 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> </strikes> </Properties> </root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[visitorCell](cells, "Avatar")
	baseapp.Register[visitor](bases, "Avatar")
	space.Register(cells, "Smithy", func() *anvil { return &anvil{seen: seen} })
	baseapp.Register(bases, "Smithy", func() *smithy { return &smithy{seen: seen} })
	cfg.CellScripts, cfg.BaseScripts, cfg.BaseApps = cells, bases, 2
	if file != "" {
		kept, err := sqlite.Open(context.Background(), file, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = kept.Close() })
		cfg.Store = kept
	}
	cfg.BaseStart = func(s *baseapp.Starter) {
		if err := s.Ensure("Smithy", "the smithy", nil, func(n entity.NameReply) {
			seen.note(func(s *smithies) { s.told++; s.holder, s.fault = n.Holder, n.Err })
		}); err != nil {
			seen.note(func(s *smithies) { s.fault = err })
		}
	}
	return cfg
}

// TestEnsure: two BaseApps that start at the same moment want the same entity, and there is one: also when the world
// is started again with its store, whether or not Config.BringBack brings it back, too.
func TestEnsure(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "world.db")
	struck := int64(0)
	for round := range 4 {
		seen := &smithies{}
		cfg := smithyWorld(t, file, seen)
		if round%2 == 1 {
			cfg.BringBack = []string{"Smithy"} // its row is marked in this round, and brought back in the next
		}
		if round == 2 {
			cfg.BringBack = []string{"Smithy"}
		}
		c, err := cluster.Start(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "told to both", seen.is(func(s *smithies) bool { return s.told == 2 && s.cells == 1 }))
		time.Sleep(300 * time.Millisecond) // a second one would come now
		seen.note(func(s *smithies) {
			if s.created != 1 || s.cells != 1 || s.fault != nil || entity.ID(s.holder.Entity) != s.lived {
				t.Errorf("round %d: made %d times, %d cell parts, %v, %v", round, s.created, s.cells, s.holder, s.fault)
			}
			if s.strikes < struck || round > 0 && s.strikes == 0 {
				t.Errorf("round %d: begins with %d strikes after %d", round, s.strikes, struck)
			}
			struck = s.strikes
		})
		limit, cancel := context.WithTimeout(context.Background(), patience)
		r, err := c.Shutdown(limit, "the round ends")
		cancel()
		if err != nil || r.Sum().Written != 1 {
			t.Errorf("round %d: %+v, %v", round, r.Sum(), err)
		}
		_ = c.Stop()
	}
	kept, err := sqlite.Open(context.Background(), file, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	types, err := store.NewSchema(smithyWorld(t, "", &smithies{}).BaseScripts.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Apply(context.Background(), types, false); err != nil {
		t.Fatal(err)
	}
	if page, err := kept.Query(context.Background(), store.Query{Type: "Smithy", Limit: store.MaxPage}); err != nil || len(page.Rows) != 1 {
		t.Errorf("the store has %v, %v", page.Rows, err)
	}
}

// TestEnsureOutlivesItsBaseApp: the BaseApp that has the entity is killed. The other goes on with it, and a
// new one finds it. When nobody has a copy, as when all BaseApps die, it is made again.
func TestEnsureOutlivesItsBaseApp(t *testing.T) {
	t.Parallel()
	seen := &smithies{}
	cfg := smithyWorld(t, "", seen)
	cfg.BackupPeriod = time.Second
	c, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	eventually(t, "told to both", seen.is(func(s *smithies) bool { return s.told == 2 && s.cells == 1 }))
	eventually(t, "held by the other", func() bool { // or its death would end it
		st, err := c.Status()
		return err == nil && st.Counters.BackupsSent > 0 && st.Unprotected == 0 && st.RulesPending == 0
	})
	has := 0
	seen.note(func(s *smithies) {
		for i := range c.BaseApps() {
			if c.BaseAppAddr(i) == s.holder.At {
				has = i
			}
		}
	})
	if err := c.KillBaseApp(has); err != nil {
		t.Fatal(err)
	}
	eventually(t, "restored", seen.is(func(s *smithies) bool { return s.restored == 1 }))
	if err := c.AddBaseApp(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "found by the new one", seen.is(func(s *smithies) bool { return s.told == 3 }))
	seen.note(func(s *smithies) {
		if s.created != 1 || s.fault != nil || s.holder.At != c.BaseAppAddr(1-has) {
			t.Errorf("made %d times; %v has it, %v", s.created, s.holder, s.fault)
		}
	})
	for i := range 3 {
		_ = c.KillBaseApp(i)
	}
	if err := c.AddBaseApp(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "made again", seen.is(func(s *smithies) bool { return s.created == 2 && s.told == 4 }))
}
