package baseappmgr_test

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Two players log in, then one of them a second time. A runner would do what this example does by
// hand: pass on what arrives on a channel.
func Example() {
	schema, err := property.NewSchema(&property.Definition{Name: "Avatar", HasBase: true, HasClient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := baseappmgr.New(baseappmgr.Config{
		Transport: wireTap{}, Manager: netip.MustParseAddrPort("10.0.0.1:20000"), Schema: schema,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	say := func(ch mercury.ChannelID, msg wire.Message) { m.Message(0, ch, true, wire.Encode(nil, msg)) }
	const manager, loginApp, baseApp = 1, 2, 3
	m.Tick(0)
	cellAppMgr, _ := wireTap{}.Peer(manager)
	m.Opened(0, manager, cellAppMgr)
	say(manager, &wire.Welcome{Number: 1, Term: 1, CellAppMgr: cellAppMgr})
	say(manager, &wire.Members{}) // no BaseApp is there whose accounts are not known yet
	say(loginApp, &wire.Join{Speaks: wire.Spoken(), Role: wire.LoginApp, Digest: schema.Digest})
	say(baseApp, &wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: schema.Digest})
	say(loginApp, &wire.CreateProxy{Request: 1, Account: "ann"})
	say(loginApp, &wire.CreateProxy{Request: 2, Account: "bob"})
	say(baseApp, &wire.ProxyMade{Request: 1, ID: 7})
	say(loginApp, &wire.CreateProxy{Request: 3, Account: "ann"})
	say(baseApp, &wire.ProxyMade{Request: 3, ID: 7})
	fmt.Printf("%+v\n", m.Counts())
	// Output:
	// to 2: *wire.Welcome
	// to 3: *wire.Welcome
	// to 3: make ann
	// to 3: make bob
	// to 2: request 1, code 0
	// to 3: another client for ann
	// to 2: request 3, code 0
	// {BaseApps:1 LoginApps:1 Accounts:2 Pending:1 Names:0}
}

// wireTap is a transport that prints what is sent.
type wireTap struct{}

func (wireTap) Self() mercury.Address                                 { return mercury.Address{} }
func (wireTap) Dial(mercury.Address) mercury.ChannelID                { return 1 }
func (wireTap) Queued(mercury.ChannelID) (bytes, limit int)           { return 0, mercury.DefaultMaxQueued }
func (wireTap) SendUnreliable(mercury.ChannelID, []byte) (int, error) { return 0, nil }
func (wireTap) Pause(mercury.ChannelID)                               {}
func (wireTap) Resume(mercury.ChannelID)                              {}
func (wireTap) MaxUnreliable(mercury.ChannelID) int                   { return 900 }
func (wireTap) Close(mercury.ChannelID)                               {}
func (wireTap) Abort(mercury.ChannelID)                               {}
func (wireTap) Standing(mercury.ChannelID) mercury.Standing           { return mercury.Trusted }
func (wireTap) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(ch)}), 20000)
	return mercury.Address{At: at, Salt: 1}, true
}

func (wireTap) Send(ch mercury.ChannelID, msg []byte) error {
	id, body, err := wire.Split(msg)
	switch id {
	case wire.MakeProxyID:
		var x wire.MakeProxy
		err = x.Parse(body)
		fmt.Printf("to %d: make %s\n", ch, x.Account)
	case wire.ReloginID:
		var x wire.Relogin
		err = x.Parse(body)
		fmt.Printf("to %d: another client for %s\n", ch, x.Account)
	case wire.ProxyMadeID:
		var x wire.ProxyMade
		err = x.Parse(body)
		fmt.Printf("to %d: request %d, code %d\n", ch, x.Request, x.Code)
	case wire.WelcomeID:
		fmt.Printf("to %d: %T\n", ch, &wire.Welcome{})
	}
	return err
}
