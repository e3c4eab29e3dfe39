package cluster

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
	"github.com/cellscape/cellscape/space/recording/keep"
)

// everything is a Config in which each setting of a process is set.
func everything(t *testing.T) Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root><Book hasBase="true" hasCell="false"/><Reader hasBase="true" hasCell="false" hasClient="true"/></root>`)},
		"entity_defs/Reader.def": {Data: []byte(`<root/>`)},
		"entity_defs/Book.def":   {Data: []byte(`<root><Properties><n> <Type> INT32 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> </n></Properties></root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		CellScripts: space.NewScripts(schema), BaseScripts: baseapp.NewScripts(schema), PlayerType: "Reader", BaseStart: func(*baseapp.Starter) {},
		CellApps: 1, BaseApps: 1, Workers: 2, Recorder: new(keep.Memory), Space: space.Config{AoIRadius: 100}, Balance: balance.Config{MinCells: 2}, Policy: balance.ProfileConfig{},
		Logins: cellappmgr.LoginConfig{Queue: 7, MaxProxies: 9}, Upload: baseapp.UploadLimits{Messages: 50}, DownloadRate: 1 << 20, PendingLogins: 5,
		ResumeTime: time.Second, Relogin: baseapp.RefuseLogin, BackupPeriod: 5 * time.Second, BackupReplicas: 2, Shed: baseappmgr.ShedConfig{Off: true},
		MoveBatch: 3, Store: memory.New(), StoreForgets: true, BringBack: []string{"Book"}, ArchivePeriod: time.Minute, Tick: 50 * time.Millisecond,
		MinCellApps: 2, RecoveryWindow: 3 * time.Second, StatusPeriod: time.Second, AppTimeout: 4 * time.Second, HangTimeout: 9 * time.Second, Term: 3, Watch: func(string, *watch.Tree) {},
	}
}

// all stands for whatever a runner provides.
type all struct{ mercury.Transport }

func (all) Do(uint64, func(context.Context) any)                   {}
func (all) Probe(uint64, netip.AddrPort)                           {}
func (all) Hold(uint64, netip.AddrPort)                            {}
func (all) Release(uint64)                                         {}
func (all) Mint(time.Duration, mercury.Address, netip.Addr) []byte { return nil }

// A setting of a process that no Config of a world sets cannot be reached by a game. Those that are
// left out have their reason.
func TestSettingsReachTheProcesses(t *testing.T) {
	c := everything(t)
	roles, err := c.Roles(netip.MustParseAddrPort("10.0.0.1:7"))
	if err != nil {
		t.Fatal(err)
	}
	if err := roles.OpenStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	roles.managers = []netip.AddrPort{roles.manager}
	e := &Env{
		Transport: all{}, Chance: rand.New(rand.NewPCG(1, 1)), Secrets: func([]byte) {}, Jobs: all{}, Lookout: all{}, Work: func() time.Duration { return 0 },
		Meters: status.Meters{Clock: func() time.Duration { return 0 }}, Doors: []protocol.Door{{Network: UDP}}, Outside: func(mercury.ChannelID) bool { return true },
		Network: func(mercury.ChannelID) string { return "" }, Tickets: all{}, Holder: "a world", Past: new(cellappmgr.Past), Log: slog.New(slog.DiscardHandler),
	}
	seat := roles.seatConfig(e, true)
	seat.Fresh = true // with several managers none is
	for _, x := range []struct {
		name string
		cfg  any
		less []string
	}{
		// The leases and the ends of a leader are the runner's: a Cluster sets Leads and Ends, and
		// the votes of the managers are the only Lease so far.
		{"Seat", seat, []string{"Lease", "Leads", "Ends"}},
		{"CellAppMgr", seat.Config, []string{"ForObservers"}},       // which only the door of the leader knows
		{"BaseAppMgr", roles.baseAppMgrConfig(e), []string{"Tick"}}, // it answers without waiting for one
		// A store that is open has been changed, and only simulated worlds go without a lease.
		{"DBApp", roles.dbAppConfig(e, true), []string{"Change", "Unleased"}},
		{"LoginApp", roles.loginAppConfig(e), nil},
		{"BaseApp", roles.baseAppConfig(e), nil},
		{"CellApp", roles.cellAppConfig(e), []string{"ReportPeriod"}}, // the managers count on the default
	} {
		for f, v := range reflect.ValueOf(x.cfg).Fields() {
			if unset := v.IsZero(); unset != slices.Contains(x.less, f.Name) {
				t.Errorf("%s: %s is left out: %v", x.name, f.Name, unset)
			}
		}
	}
}
