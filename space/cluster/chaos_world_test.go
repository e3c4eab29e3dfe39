package cluster_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// The world of the chaos run: every player walks, counts towards its base and its cell part, and
// sells items to others for gold. So each promise has a number that shows whether it was kept.

const (
	chaosSide = 200 // metres; everybody sees many others
	// dealerGold and dealerItems are what each player begins with.
	dealerGold, dealerItems = 100, 20
	dealPrice               = 5
	// soldKept is of how many deals a seller knows that they are done: a late question may come from a buyer
	// that was restored.
	soldKept = 64
	// askAgain is when a side of a deal asks again that does not know what came of it.
	askAgain = time.Second
)

const chaosDef = `<root>
	<Persistent> true </Persistent>
	<Properties>
		<who>  <Type> UINT64 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Indexed> true </Indexed> </who>
		<kept> <Type> UINT32 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Indexed> true </Indexed> </kept>
		<ticks> <Type> UINT32 </Type> <Flags> BASE_AND_CLIENT </Flags> </ticks>
		<count> <Type> UINT32 </Type> <Flags> OWN_CLIENT </Flags> </count>
		<mood>  <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </mood>
		<gold>  <Type> UINT32 </Type> <Flags> OWN_CLIENT </Flags> </gold>
		<items> <Type> UINT32 </Type> <Flags> OWN_CLIENT </Flags> </items>

		<onOffer> <Type> UINT8 </Type>   <Flags> OWN_CLIENT </Flags> </onOffer>
		<sale>    <Type> UINT32 </Type>  <Flags> OWN_CLIENT </Flags> </sale>
		<buyer>   <Type> ENTITYCALL </Type> <Flags> CELL_PRIVATE </Flags> </buyer>
		<sold>    <Type> ARRAY <of> UINT32 </of> </Type> <Flags> CELL_PRIVATE </Flags> </sold>

		<aside>  <Type> UINT32 </Type>  <Flags> OWN_CLIENT </Flags> </aside>
		<deal>   <Type> UINT32 </Type>  <Flags> CELL_PRIVATE </Flags> </deal>
		<seller> <Type> ENTITYCALL </Type> <Flags> CELL_PRIVATE </Flags> </seller>
		<taken>  <Type> MAP <key> ENTITY_ID </key> <of> UINT32 </of> </Type> <Flags> CELL_PRIVATE </Flags> </taken>
	</Properties>
	<CellMethods>
		<step> <Exposed> OWN_CLIENT </Exposed> <Arg> UINT32 </Arg> </step>
		<sell> <Exposed> OWN_CLIENT </Exposed> <Arg> ENTITY_ID </Arg> </sell>
		<propose> <Arg> ENTITYCALL </Arg> <Arg> UINT32 </Arg> <ReturnValues> <taken> BOOL </taken> </ReturnValues> </propose>
		<settle> <Arg> UINT32 </Arg> <ReturnValues> <items> UINT32 </items> </ReturnValues> </settle>
	</CellMethods>
	<BaseMethods>
		<tick> <Exposed> OWN_CLIENT </Exposed> <Arg> UINT32 </Arg> </tick>
	</BaseMethods>
	<ClientMethods>
		<ticked> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </ticked>
		<stepped> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </stepped>
		<kept> <Arg> UINT32 </Arg> </kept>
	</ClientMethods>
	<Volatile> <position/> <yaw/> </Volatile>
</root>`

// merchant is the base of a player.
type merchant struct {
	*entity.Base
	Ticks property.Uint32
	Who   property.Uint64
	Kept  property.Uint32
}

// OnCreated makes the cell part.
func (m *merchant) OnCreated() {
	const most = chaosSide - 20
	at := property.Vector3{X: float32(uint64(m.ID())*137%most) - most/2, Z: float32(uint64(m.ID())*89%most) - most/2}
	if err := m.CreateCell(1, at, property.Vector3{}, nil); err != nil {
		panic(err)
	}
}

// Tick counts, if the number is the next.
func (m *merchant) Tick(n uint32) {
	if n == m.Ticks.Get()+1 {
		m.Ticks.Set(n)
		m.keep(n)
	}
	_ = m.Client().Call("ticked", n, m.Ticks.Get())
}

// dealer is the cell part. A deal takes two calls with results, and a backup before each, as in
// examples/dungeon.
type dealer struct {
	*space.Real
	Count, Mood property.Uint32
	Gold, Items property.Uint32

	OnOffer property.Uint8
	Sale    property.Uint32
	Buyer   property.MailboxField
	Sold    property.Slice[uint32]

	Aside, Deal property.Uint32
	Seller      property.MailboxField
	Taken       property.Map[uint64, uint32]
}

func must(err error) {
	if err != nil {
		panic(err) // which is an error in the status
	}
}

// OnCreated gives the player its goods.
func (d *dealer) OnCreated() {
	d.Gold.Set(dealerGold)
	d.Items.Set(dealerItems)
}

// Step is what Tick is for the base.
func (d *dealer) Step(_ entity.ID, n uint32) {
	if n == d.Count.Get()+1 {
		d.Count.Set(n)
	}
	if n%8 == 0 {
		d.Mood.Set(n)
	}
	_ = d.OwnClient().Call("stepped", n, d.Count.Get())
}

// Sell sets an item aside for a buyer.
func (d *dealer) Sell(_ entity.ID, buyer entity.ID) {
	if d.OnOffer.Get() > 0 || d.Items.Get() == 0 || buyer == d.ID() {
		return
	}
	d.OnOffer.Set(1)
	d.Sale.Set(d.Sale.Get() + 1)
	must(d.Buyer.Set(property.Mailbox{Entity: uint64(buyer)}))
	must(d.Backup("OnItemSafe", int64(d.Sale.Get())))
}

// OnItemSafe proposes the deal.
func (d *dealer) OnItemSafe(c entity.Callback) {
	if n := d.Sale.Get(); d.OnOffer.Get() > 0 && int64(n) == c.User {
		buyer := d.Lookup(entity.ID(d.Buyer.Get().Entity), "Avatar", entity.CellMailbox)
		must(buyer.Then("OnProposed", c.User).Call("propose", d, n))
	}
}

// OnProposed hears whether the buyer takes it. If nobody knows, the seller asks again; also if the
// buyer does, until it pays: it may have died before that was in its backup, and then have had
// another seller's offer first.
func (d *dealer) OnProposed(r entity.Reply) {
	switch {
	case d.OnOffer.Get() == 0 || int64(d.Sale.Get()) != r.User:
	case dealRefused(r.Err):
		d.OnOffer.Set(0)
	default:
		d.again("OnItemSafe", r.User)
	}
}

func (d *dealer) again(callback string, user int64) {
	_, err := d.AddTimer(askAgain, 0, callback, user)
	must(err)
}

// dealRefused reports whether an error is a game's no. Any other says nothing of what was done.
func dealRefused(err error) bool {
	var g *entity.GameError
	return errors.As(err, &g) && g.Code != 0
}

// Propose is called by a seller: this player sets the gold aside, if it can.
func (d *dealer) Propose(seller property.Mailbox, n uint32) (bool, error) {
	if last, _ := d.Taken.Get(seller.Entity); n <= last {
		return true, nil
	}
	if d.Aside.Get() > 0 || d.Gold.Get() < dealPrice {
		return false, &entity.GameError{Code: 1, Text: "not now"}
	}
	d.Aside.Set(dealPrice)
	d.Deal.Set(n)
	must(d.Seller.Set(seller))
	must(d.Taken.Set(seller.Entity, n))
	must(d.Backup("OnGoldSafe", int64(n)))
	return true, nil
}

// OnGoldSafe pays.
func (d *dealer) OnGoldSafe(c entity.Callback) {
	if n := d.Deal.Get(); d.Aside.Get() > 0 && int64(n) == c.User {
		must(d.Mailbox(d.Seller.Get()).Then("OnSettled", c.User).Call("settle", n))
	}
}

// Settle is called by the buyer: the gold is the seller's, and the items that it returns the buyer's.
func (d *dealer) Settle(n uint32) (uint32, error) {
	switch {
	case slices.Contains(d.Sold.Values(), n):
		return 1, nil
	case d.OnOffer.Get() == 0 || d.Sale.Get() != n:
		return 0, &entity.GameError{Code: 1, Text: "no such deal"}
	}
	d.OnOffer.Set(0)
	d.Items.Set(d.Items.Get() - 1)
	d.Gold.Set(d.Gold.Get() + dealPrice)
	must(d.Sold.Append(n))
	if d.Sold.Len() > soldKept {
		must(d.Sold.Delete(0, 1))
	}
	return 1, nil
}

// OnSettled takes the item for the gold, or keeps it. If nobody knows, the buyer asks again.
func (d *dealer) OnSettled(r entity.Reply) {
	if d.Aside.Get() == 0 || int64(d.Deal.Get()) != r.User {
		return
	}
	var items uint32
	switch err := r.Scan(&items); {
	case err == nil:
		d.Items.Set(d.Items.Get() + items)
		d.Gold.Set(d.Gold.Get() - d.Aside.Get())
	case !dealRefused(err):
		d.again("OnGoldSafe", r.User)
		return
	}
	d.Aside.Set(0)
}

// chaosWorld is the same in all processes. file is that of its store, "" if it has none.
func chaosWorld(t testing.TB, managers []string, file string) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(definedFor(file))},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[dealer](cells, "Avatar")
	baseapp.Register[merchant](bases, "Avatar")
	const half = chaosSide / 2
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar", Managers: managers, BackupPeriod: 2 * time.Second, StatusPeriod: 300 * time.Millisecond,
		Logins: cellappmgr.LoginConfig{Always: true}, Space: space.Config{AoIRadius: 40},
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}, MinCells: 3, MaxCells: 3}},
	}
}

// teller is one player's client, and what it has found.
type teller struct {
	w      *chaos
	number int
	path   path
	bots.Walk

	mu     sync.Mutex
	said   [2]uint32 // to the base, and to the cell part
	heard  [2]uint32 // the highest answer
	wrong  error     // the first answer that skips one, or whose receiver had skipped one
	lastAt [2]time.Time
	silent [2]time.Duration // the longest without an answer
	closed error

	kept     uint32 // the highest tick that the store has confirmed
	keptAt   time.Time
	keptLate time.Duration // the longest time between two confirmations

	audited bool
	diff    []string
}

var tellerMethods = [2]string{"ticked", "stepped"}

// Act implements bots.Behaviour.
func (p *teller) Act(b *bots.Bot) {
	if p.w.resting.Load() {
		return
	}
	p.Walk.Act(b)
	p.path.goes(b.Player().Position)
	own := b.Player()
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.Every(300 * time.Millisecond) {
		for i, call := range []func(n uint32) error{
			func(n uint32) error { return own.Base().Call("tick", n) },
			func(n uint32) error { return own.Cell().Call("step", n) },
		} {
			if p.said[i]-p.heard[i] < 100 && call(p.said[i]+1) == nil {
				p.said[i]++
			}
		}
	}
	if b.Every(time.Second) {
		if to := p.w.someone(b.Chance); to != 0 {
			_ = own.Cell().Call("sell", to)
		}
	}
}

// called takes an answer. Whoever was restored may repeat some, since what it had told after its
// last backup is told again; but the next new one is always the next.
func (p *teller) called(m *property.Method, args []property.Value) {
	if m.Name == "kept" {
		p.isKept(uint32(args[0].Uint()))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(tellerMethods[:], m.Name)
	n, of := uint32(args[0].Uint()), uint32(args[1].Uint())
	if (n != of || n > p.heard[i]+1) && p.wrong == nil {
		p.wrong = fmt.Errorf("%s %d of %d after %d", m.Name, n, of, p.heard[i])
	}
	p.heard[i] = max(p.heard[i], n)
	now := time.Now()
	if !p.lastAt[i].IsZero() {
		p.silent[i] = max(p.silent[i], now.Sub(p.lastAt[i]))
	}
	p.lastAt[i] = now
}

func (p *teller) events() client.Events {
	return client.Events{
		Called:  func(_ *client.Replica, m *property.Method, args []property.Value) { p.called(m, args) },
		Audited: func(diff []string) { p.audited, p.diff = true, diff },
		Closed: func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.closed = err
		},
	}
}

// number reads a property that the client is told of its own entity.
func number(own *client.Replica, name string) uint64 {
	return own.Props.Get(own.Def.Property(name).Index).Uint()
}
