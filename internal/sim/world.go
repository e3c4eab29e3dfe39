package sim

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// The simulated game is a square with players that walk, dress and talk, and rovers without
// clients. Everyone counts what passes between base and cell, so that the checkers can tell a lost,
// doubled or reordered message from the counts alone.
const theSpace entity.SpaceID = 1

const (
	half          = 400 // metres from the middle to the edge
	aoiRadius     = 100
	ghostDistance = 160
	aoiHysteresis = 5
	nearRadius    = 40 // of the NEAR detail level
	tuneKey       = 7  // of the space's data, which rovers set
)

// What the parts of whoever counts its notes keep: the cell part those that came, the base part
// those that it sent.
const (
	cellTallies = `
		<noted>  <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </noted>
		<notedLife> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </notedLife>
		<notedMost> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </notedMost>
		<said>   <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </said>
		<faults> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </faults>`
	baseTallies = `
		<sent>   <Type> UINT32 </Type> <Flags> BASE </Flags> </sent>
		<heard>  <Type> UINT32 </Type> <Flags> BASE </Flags> </heard>
		<life>   <Type> UINT32 </Type> <Flags> BASE </Flags> </life>
		<wrong>  <Type> UINT32 </Type> <Flags> BASE </Flags> </wrong>
		<ears>   <Type> ARRAY <of> UINT32 </of> </Type> <Flags> BASE </Flags> </ears>`
)

const soulDef = `
<root>
	<Properties>
		<name>   <Type> STRING </Type> <Flags> ALL_CLIENTS </Flags> </name>
		<hat>    <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel> </hat>
		<mood>   <Type> INT32 </Type> <Flags> OTHER_CLIENTS </Flags> </mood>
		<gold>   <Type> INT32 </Type> <Flags> OWN_CLIENT </Flags> </gold>
		<steps>  <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </steps>
` + cellTallies + `
		<worn>   <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </worn>
		<odd>    <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </odd>
		<greeted> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </greeted>
		<tuned>  <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </tuned>
		<bag>    <Type> ARRAY <of> UINT32 </of> </Type> <Flags> ALL_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel> </bag>
		<marks>  <Type> ARRAY <of> UINT32 </of> </Type> <Flags> OTHER_CLIENTS </Flags> </marks>
		<trail>  <Type> ARRAY <of> UINT32 </of> </Type> <Flags> CELL_PUBLIC </Flags> </trail>
		<secrets> <Type> ARRAY <of> UINT32 </of> </Type> <Flags> CELL_PUBLIC_AND_OWN </Flags> </secrets>` + goodsDef + numbersDef + `
		<ledger> <Type> ARRAY <of> UINT32 </of> </Type> <Flags> BASE_AND_CLIENT </Flags> </ledger>
		<score>  <Type> INT32 </Type> <Flags> BASE_AND_CLIENT </Flags> </score>
` + baseTallies + `
	</Properties>
	<CellMethods>
		<note> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </note>
		<wear> <Exposed> OWN_CLIENT </Exposed> <Arg> INT32 </Arg> </wear>
		<greet> <Exposed> ALL_CLIENTS </Exposed> <Arg> STRING </Arg> </greet>
	</CellMethods>
	<BaseMethods>
		<told> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </told>
		` + utterDef + `
	</BaseMethods>
	<ClientMethods>
		<heardOf> <Arg> STRING </Arg> <DetailDistance> 80 </DetailDistance> </heardOf>` + numbersClients + `
	</ClientMethods>
	<LoDLevels>
		<level> 40 <hyst> 5 </hyst> <label> NEAR </label> </level>
	</LoDLevels>
</root>`

const critterDef = `
<root>
	<Volatile> <position/> <yaw/> </Volatile>
	<Properties>
		<hat>     <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel> </hat>
		<mood>    <Type> INT32 </Type> <Flags> OTHER_CLIENTS </Flags> </mood>
		<steps>   <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </steps>
		<greeted> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </greeted>
	</Properties>
	<CellMethods>
		<greet> <Exposed> ALL_CLIENTS </Exposed> <Arg> STRING </Arg> </greet>
	</CellMethods>
	<LoDLevels>
		<level> 40 <hyst> 5 </hyst> <label> NEAR </label> </level>
	</LoDLevels>
</root>`

type world struct {
	books  *books               // nil without a store
	handed []entity.ClientGiven // what became of the clients that a test has had given away
	// inherited are the areas of the space whose cells have died, as the game was told of them.
	inherited []bsp.Rect
	hooked    func(id entity.ID, hook string) // hears of hooks of players' cell parts; nil but for transcripts
	here      []resident
	schema    *property.Schema
	cells     *space.Scripts
	lit       map[entity.SpaceID]int // how often a room had a first cell

	// This is what bases of a wild world know of the run; see Wild.
	chance     streams
	calm, hush bool
	// silent says that all cells know of the hush, so that heralds need not say so any more.
	silent  bool
	views   bool // players see, and are seen, in changing ways
	rides   bool // there are carriages
	bursts  bool // brittle cell parts are called with what they panic at each time
	cracks  bool // bases panic, and have panicked so often
	cracked map[entity.ID]int

	// travels says that all are teleported now and then, travellers who may be gone near to, haven
	// the space that they go to, and outcomes how it went, by code.
	travels    bool
	stays      bool // they go only where a test sends them
	travellers []entity.ID
	haven      entity.SpaceID
	outcomes   map[placement.Code]int

	// settlers and seedlings are who may be settled near to, settled and sown how that went, by code.
	settles             bool
	settlers, seedlings []property.Mailbox
	settled, sown       map[placement.Code]int

	// gift is what players download. given and taken count whole gifts, as bases and clients say,
	// lost those whose client went away.
	gift               []byte
	given, taken, lost int

	// relogins is Wild.Relogins, seated the number of the last session of a twin.
	relogins bool
	seated   int

	// sharedHeard is what heralds have heard of what the cluster shares.
	sharedHeard map[sharedHearer]map[string]sharedNews

	heralds bool // there are some
	// consulted, foretold and unanswered count what the oracle was asked; lies are wrong answers.
	consulted, foretold, unanswered int
	lies                            []string

	// beacons is how many were ever lit.
	beacons int

	// gossips are all that ever were, and answers counts what they were answered.
	gossips []entity.ID
	answers map[string]int
	// waif are the waifs that ever were, waifs the last of them, listener the players who were called;
	// audience are those who can be, and lossy reports whether a waif may have been lost sight of.
	waif, listener map[entity.ID]bool
	waifs          []entity.ID
	audience       func() []entity.ID
	lossy          func() bool

	// incarnation is that of the cell part in which a base of a process believes.
	incarnation func(*Process, entity.ID) uint32

	// lastCalls are the calls in which their targets have ended, untrue those of them that were told as
	// calls that nobody has handled.
	lastCalls map[string]bool
	untrue    []string
	// refusedCalls are those of which some incarnation of the caller was told that nobody has handled them.
	refusedCalls map[string]bool

	bases bookOfBases

	// idols are all that there are, adored what the scripts of players have said of them in the
	// end, and shown how many were seen then.
	idols  []entity.ID
	adored map[pairing]adoration
	shown  int

	// kicked are the clients that were kicked, and onKick is told of each.
	kicks, walls, ranges bool
	kicked               []*kicked
	onKick               func(on *Process, account, reason string)
	// walled counts what became of moves that go where nobody may, by the answer; asked the
	// questions who is near.
	walled map[string]int
	asked  int
	sprung int // how often traps told something
	// boarded is how often somebody got on a carriage, ridesAtRest who sat on one when the world was at rest.
	boarded, ridesAtRest int
	around               func(r *space.Real) []space.View

	// now is the simulated time, rough reports whether this is the bad time, and fault is the first
	// error that a script should not have got.
	now   func() time.Duration
	rough func() bool
	fault error

	// saved is what the savers were told is safe.
	saved map[entity.ID]uint32
}

// lossyDef makes unreliable, in a definition, what others see of hat, mood, bag and marks, and the call
// that tells of greetings.
func lossyDef(def string) string {
	for _, end := range []string{"</hat>", "</mood>", "</bag>", "</marks>", "</heardOf>"} {
		def = strings.ReplaceAll(def, end, "<IsReliable> false </IsReliable> "+end)
	}
	return def
}

// loadSchema loads the definitions: soul is what players and rovers have in common, and types are more
// of them at the end, with files of their own. Players and rovers are packed, each in its own way;
// critters are not.
func loadSchema(soul, critter, types string, defs map[string]string) (*property.Schema, error) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	fs := fstest.MapFS{
		"entities.xml":                    file(`<root><ClientServerEntities><Walker/><Rover/><Critter hasBase="false"/><Beast hasBase="false"/><Lodger hasClient="false"/><Lamp hasBase="false" hasClient="false"/>` + types + `</ClientServerEntities></root>`),
		"entity_defs/interfaces/Soul.def": file(soul),
		"entity_defs/Walker.def": file(`<root><Implements><Interface> Soul </Interface></Implements><Volatile> <position/> <yaw/> </Volatile>
			<NetworkCompression> <internal> ZIP_BEST_SPEED </internal> <external> ZIP_BEST_SPEED </external> </NetworkCompression></root>`),
		"entity_defs/Rover.def": file(`<root><Implements><Interface> Soul </Interface></Implements>
			<NetworkCompression> <internal> ZIP_6 </internal> <external> ZIP <level> 2 </level> </external> </NetworkCompression><Volatile> <position/> <yaw/> </Volatile></root>`),
		"entity_defs/Critter.def": file(critter),
		"entity_defs/Beast.def":   file(beastDef),
		"entity_defs/Lodger.def":  file(lodgerDef),
		"entity_defs/Lamp.def":    file(lampDef),
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		fs[name] = file(defs[name])
	}
	return property.Load(fs)
}

func newWorld(o Options) (*world, error) {
	w := &world{lit: map[entity.SpaceID]int{}, answers: map[string]int{}, waif: map[entity.ID]bool{}, listener: map[entity.ID]bool{}, saved: map[entity.ID]uint32{}, lastCalls: map[string]bool{}, refusedCalls: map[string]bool{}, cracked: map[entity.ID]int{}, adored: map[pairing]adoration{}, walled: map[string]int{}, chance: newStreams(o.Seed)}
	w.here = slices.DeleteFunc(w.residents(o), func(r resident) bool { return !r.wanted })
	var err error
	if w.schema, err = worldSchema(o, w.here); err != nil {
		return nil, err
	}
	w.cells = space.NewScripts(w.schema)
	if o.Wild.stores() {
		if w.books, err = newBooks(w.schema, &o); err != nil {
			return nil, err
		}
	}
	if o.Gift > 0 {
		w.gift = bytes.Repeat([]byte("gift"), o.Gift/4)
	}
	w.relogins = o.Wild.Relogins
	w.settles, w.heralds = o.Wild.Settlers > 0, o.Wild.Heralds > 0
	w.rides = o.Wild.Carriages > 0
	w.views, w.bursts, w.cracks = o.Wild.Views, o.Wild.Bursts, o.Wild.Cracks
	w.kicks, w.walls, w.ranges = o.Wild.Kicks, o.Wild.Walls, o.Wild.Ranges
	if w.travels = o.Wild.Travellers > 0; w.travels {
		w.outcomes = map[placement.Code]int{}
	}
	w.registerCells(o)
	return w, w.cells.Err()
}

// resident is a type whose entities live only in worlds that want them.
type resident struct {
	name   string
	wanted bool
	parts  string // what entities.xml says of the parts that it lacks
	def    string
	cell   func(s *space.Scripts, name string) // registers the script of its cell part; nil if it has none
	base   func(s *baseapp.Scripts, name string)
}

// residents are such types but those of wildTypes, in the order of their ids.
func (w *world) residents(o Options) []resident {
	return []resident{
		{"Saver", o.Wild.Savers > 0, `hasClient="false"`, saverDef,
			func(s *space.Scripts, name string) {
				space.Register(s, name, func() *saverCell { return &saverCell{w: w} })
			},
			func(s *baseapp.Scripts, name string) { baseapp.Register[saverBase](s, name) }},
		{"Ledger", o.Wild.Ledgers > 0, `hasCell="false" hasClient="false"`, ledgerDef, nil,
			func(s *baseapp.Scripts, name string) {
				baseapp.Register(s, name, func() *ledger { return &ledger{w: w} })
			}},
		{"Beacon", o.Wild.Beacons > 0, `hasCell="false" hasClient="false"`, beaconDef, nil,
			func(s *baseapp.Scripts, name string) {
				baseapp.Register(s, name, func() *beacon { return &beacon{w: w} })
			}},
		{"Idol", o.Wild.Idols > 0, ``, idolDef,
			func(s *space.Scripts, name string) {
				space.Register(s, name, func() *idolCell { return &idolCell{w: w} })
			},
			func(s *baseapp.Scripts, name string) {
				baseapp.Register(s, name, func() *idolBase { return &idolBase{w: w} })
			}},
		{"Tower", o.Wild.Towers > 0, ``, towerDef,
			func(s *space.Scripts, name string) {
				space.Register(s, name, func() *towerCell { return &towerCell{w: w} })
			},
			func(s *baseapp.Scripts, name string) { baseapp.Register[towerBase](s, name) }},
		{"Sentry", o.Wild.Sentries > 0, `hasClient="false"`, sentryDef,
			func(s *space.Scripts, name string) {
				space.Register(s, name, func() *sentryCell { return &sentryCell{w: w} })
			},
			func(s *baseapp.Scripts, name string) { baseapp.Register[sentryBase](s, name) }},
		{"Carriage", o.Wild.Carriages > 0, ``, carriageDef,
			func(s *space.Scripts, name string) {
				space.Register(s, name, func() *carriageCell { return &carriageCell{w: w} })
			},
			func(s *baseapp.Scripts, name string) { baseapp.Register[carriageBase](s, name) }},
		{"Figure", o.Gateway, ``, figureDef,
			func(s *space.Scripts, name string) {
				space.Register(s, name, func() *figureCell { return &figureCell{w: w} })
			},
			func(s *baseapp.Scripts, name string) { baseapp.Register[figureBase](s, name) }},
		{"Vault", o.Wild.Vaults > 0, `hasClient="false"`, vaultDef,
			func(s *space.Scripts, name string) { space.Register[vaultCell](s, name) },
			func(s *baseapp.Scripts, name string) { baseapp.Register[vaultBase](s, name) }},
	}
}

// worldSchema loads the definitions of those who live in a world.
func worldSchema(o Options, here []resident) (*property.Schema, error) {
	types, defs := "", map[string]string{}
	if o.Wild.any() {
		types, defs = wildTypes, wildDefs()
	}
	for _, r := range here {
		types += "<" + r.name + " " + r.parts + "/>"
		defs["entity_defs/"+r.name+".def"] = r.def
	}
	soul, critter := soulDef, critterDef
	if o.Lossy {
		soul, critter = lossyDef(soul), lossyDef(critter)
	}
	return loadSchema(soul, critter, types, defs)
}

// registerCells registers the cell scripts of those who live in a world.
func (w *world) registerCells(o Options) {
	if o.Wild.any() {
		w.registerWild(w.cells)
	}
	for _, r := range w.here {
		if r.cell != nil {
			r.cell(w.cells, r.name)
		}
	}
	if w.travels {
		w.cells.OnArrival(w.rule)
	}
	space.Register(w.cells, "Walker", func() *walkerCell { return &walkerCell{w: w} })
	space.Register(w.cells, "Rover", func() *roverCell { return &roverCell{w: w} })
	space.Register(w.cells, "Critter", func() *critterCell { return &critterCell{w: w} })
	space.Register[beastCell](w.cells, "Beast")
	registerRooms(w.cells, func(id entity.SpaceID) { w.lit[id]++ }, o.Gateway, o.Recorded)
	w.cells.OnLostArea(func(c *space.Cell, area bsp.Rect) {
		if c.Space() == theSpace {
			w.inherited = append(w.inherited, area)
		}
	})
}

func (w *world) scripts(p *Process) *baseapp.Scripts {
	s := baseapp.NewScripts(w.schema)
	baseapp.Register(s, "Walker", func() *walkerBase { return &walkerBase{echo: echo{past: past{w: w, on: p}}} })
	baseapp.Register(s, "Rover", func() *roverBase { return &roverBase{echo: echo{past: past{w: w, on: p}}} })
	baseapp.Register[lodgerBase](s, "Lodger")
	if w.schema.Type("Clock") != nil {
		w.registerWildBases(s, p)
	}
	for _, r := range w.here {
		r.base(s, r.name)
	}
	return s
}

// beat is how often base and cell part send each other a number.
const beat = 300 * time.Millisecond

// life is what the cell parts of players and of those that walk about have in common.
type life struct {
	numbers
	Name  property.String
	Hat   property.Int32
	Mood  property.Int32
	Gold  property.Int32
	Steps property.Uint32
	Said  property.Uint32
	noting
	// Worn and Greeted count calls of clients; Odd counts those that came out of order.
	Worn, Odd, Greeted property.Uint32
	// Tuned counts what it has set of the space's data.
	Tuned property.Uint32
	// These change in parts.
	Bag, Marks, Trail, Secrets property.Slice[uint32]
	Chest                      property.Array[item]
	Ranks                      property.Map[string, int32]
	Debts                      property.Map[uint32, int32]
	Latest                     property.Slice[uint32]
	Free                       property.Field[property.Value]
}

// OnRestored begins the numbers to the base anew: what a restored real sends is a new stream.
func (s *life) OnRestored() { s.Said.Set(0) }

// beat changes what it has, and sends the base a number.
func (s *life) beat(r *space.Real) {
	s.Steps.Set(s.Steps.Get() + 1)
	fiddle(s.Steps.Get(), &s.Bag, &s.Marks, &s.Trail, &s.Secrets)
	goods{&s.Chest, &s.Ranks, &s.Debts, &s.Latest, &s.Free}.deal(s.Steps.Get())
	n := s.Said.Get() + 1
	if r.Base().Call("told", r.Order().Incarnation, n) == nil {
		s.Said.Set(n)
	}
	s.utter(r)
}

// walkerCell is the cell part of a player.
type walkerCell struct {
	*space.Real
	life
	w *world `cellscape:"local"`
}

// noteHook tells a transcript that a hook was called.
func (s *walkerCell) noteHook(hook string) {
	if s.w.hooked != nil {
		s.w.hooked(s.ID(), hook)
	}
}

// Wear is how a client changes what others see. Clients number their hats from 1, so that a lost or
// doubled call shows.
func (s *walkerCell) Wear(_ entity.ID, hat int32) {
	if uint32(hat) != s.Worn.Get()+1 {
		s.Odd.Set(s.Odd.Get() + 1)
	}
	s.Worn.Set(uint32(hat))
	s.Hat.Set(hat)
	s.Gold.Set(s.Gold.Get() - 1)
	s.Mood.Set(hat % 7)
}

// Greet is called by other players' clients.
func (s *walkerCell) Greet(from entity.ID, text string) {
	s.Greeted.Set(s.Greeted.Get() + 1)
	s.count(s.ID(), from, text)
	_ = s.AllClients().Call("heardOf", retell(s.Real, s.Greeted.Get()))
}

// OnCreated starts the beat.
func (s *walkerCell) OnCreated() { s.start() }

func (s *walkerCell) start() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
}

// OnLeavingCell changes something at the last moment, when the haunts have been told of everything
// before it.
func (s *walkerCell) OnLeavingCell() {
	s.noteHook("OnLeavingCell")
	n := uint32(s.Trail.Len())
	_, _ = s.Trail.Append(n), s.Marks.Append(n)
}

// OnEnteringCell changes something when no ghost is of the new hop yet.
func (s *walkerCell) OnEnteringCell() {
	s.noteHook("OnEnteringCell")
	n := uint32(s.Trail.Len())
	_, _ = s.Trail.Append(n), s.Marks.Append(n)
	s.Mood.Set(s.Mood.Get() + 1)
}

// OnLeftCell, OnEnteredCell, OnRestored and OnWitnessed are for transcripts.
func (s *walkerCell) OnLeftCell()    { s.noteHook("OnLeftCell") }
func (s *walkerCell) OnEnteredCell() { s.noteHook("OnEnteredCell") }
func (s *walkerCell) OnRestored() {
	s.noteHook("OnRestored")
	s.life.OnRestored()
}
func (s *walkerCell) OnWitnessed(on bool) { s.noteHook(fmt.Sprintf("OnWitnessed(%v)", on)) }

// OnBeat sends the base a number.
func (s *walkerCell) OnBeat(entity.Callback) {
	s.w.view(s.Real)
	s.w.adore(s.Real)
	s.w.askAround(s.Real)
	s.w.board(s.Real)
	if hushed(s.Real) {
		return
	}
	s.beat(s.Real)
	s.w.journey(s.Real, 12)
}

// fiddle changes lists a little, most of the time in the middle: a copy in which a change is made
// twice, or not at all, differs for ever.
func fiddle(n uint32, lists ...*property.Slice[uint32]) {
	for k, l := range lists {
		size := uint32(l.Len())
		switch step := n + uint32(k); {
		case size > 20:
			_ = l.Delete(int(n%7), int(n%7)+12)
		case size > 2 && step%3 == 0:
			_ = l.SetAt(int(n%size), n)
		case size > 2 && step%7 == 1:
			_ = l.Delete(0, 1)
		default:
			_ = l.Insert(int(size/2), n)
		}
	}
}

// roverCell is the cell part of an entity without a client: it walks about.
type roverCell struct {
	*space.Real
	life
	w *world `cellscape:"local"`
}

// Wear is not called: rovers have no client.
func (s *roverCell) Wear(entity.ID, int32) {}

// Greet answers players.
func (s *roverCell) Greet(from entity.ID, text string) {
	s.Greeted.Set(s.Greeted.Get() + 1)
	s.count(s.ID(), from, text)
	s.Mood.Set(s.Mood.Get() + 1)
	_ = s.OtherClients().Call("heardOf", retell(s.Real, s.Greeted.Get()))
}

// OnCreated starts the beat and the walk, and makes a critter and a beast.
func (s *roverCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	_, _ = s.Spawn("Critter", s.Position(), property.Vector3{}, nil)
	_, _ = s.Spawn("Beast", s.Position(), property.Vector3{}, nil)
	s.walk()
}

// OnBeat is that of a life; now and then the rover changes its looks.
func (s *roverCell) OnBeat(entity.Callback) {
	if settles(s.Real) {
		return
	}
	s.beat(s.Real)
	s.w.journey(s.Real, 8)
	if s.Chance().IntN(4) == 0 {
		s.Hat.Set(s.Chance().Int32N(100))
	}
	if s.Chance().IntN(8) == 0 {
		s.Tuned.Set(s.Tuned.Get() + 1)
		_ = s.SetSpaceData(tuneKey, fmt.Appendf(nil, "%s:%d", s.ID(), s.Tuned.Get()))
	}
}

// OnThere walks on.
func (s *roverCell) OnThere(entity.Callback) { s.walk() }

func (s *roverCell) walk() { wander(s.Real, 40) }

// wander walks on while the game is on; OnThere hears of its end.
func wander(r *space.Real, speed float32, gait ...space.Gait) {
	if !hushed(r) {
		_, _ = r.MoveTo(anywhere(r), speed, "OnThere", 0, gait...)
	}
}

func anywhere(r *space.Real) property.Vector3 {
	return property.Vector3{X: float32(r.Chance().IntN(2*half) - half), Z: float32(r.Chance().IntN(2*half) - half)}
}

// critterCell is an entity without a base: it walks about, dies young, leaves one like it behind,
// and is lost with its CellApp.
type critterCell struct {
	*space.Real
	Hat     property.Int32
	Mood    property.Int32
	Steps   property.Uint32
	Greeted property.Uint32
	w       *world `cellscape:"local"`
}

// OnCreated starts the beat and the walk.
func (s *critterCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	s.OnThere(entity.Callback{})
}

// Greet does the same as that of roverCell. Some greetings end one life and begin another.
func (s *critterCell) Greet(from entity.ID, text string) {
	s.Greeted.Set(s.Greeted.Get() + 1)
	s.Mood.Set(s.Mood.Get() + 1)
	if s.Greeted.Get()%deadlyGreeting == 0 && !s.w.calm && !s.w.hush {
		s.w.endedBy(from, s.ID(), text)
		s.bear()
	}
}

// bear makes one like it in its place.
func (s *critterCell) bear() {
	_, _ = s.Spawn("Critter", s.Position(), property.Vector3{}, func(v *property.Values) {
		_ = v.Set(v.Definition().Property("greeted").Index, property.Uint(uint64(s.Greeted.Get())))
	})
	s.Destroy()
}

// OnBeat counts, and now and then ends one life and begins another.
func (s *critterCell) OnBeat(entity.Callback) {
	if settles(s.Real) {
		return
	}
	s.Steps.Set(s.Steps.Get() + 1)
	s.Hat.Set(s.Chance().Int32N(100))
	if s.Chance().IntN(60) == 0 {
		s.bear()
	}
}

// OnThere walks on.
func (s *critterCell) OnThere(entity.Callback) { wander(s.Real, 40) }

// walkerBase is the base part of a player.
type walkerBase struct {
	*entity.Base
	echo
	noter
	hearer
	Score  property.Int32
	Ledger property.Slice[uint32]
	seat   int `cellscape:"local"` // see twins.go
}

// OnGiven notes what became of a client that a test has had given away.
func (b *walkerBase) OnGiven(g entity.ClientGiven) { b.w.handed = append(b.w.handed, g) }

// OnEntitiesEnabled makes the cell part when the client is there.
func (b *walkerBase) OnEntitiesEnabled() {
	b.sit()
	if b.kick(8) {
		return
	}
	x := float32(uint64(b.ID())*97%(2*half)) - half
	z := float32(uint64(b.ID())*61%(2*half)) - half
	if b.CreateCell(theSpace, property.Vector3{X: x, Z: z}, property.Vector3{}, nil) != nil && b.Account() == twinName {
		return // it has had a client before
	}
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
	if b.w.gift != nil {
		if err := b.Download(7, "gift", b.w.gift, "OnGift"); err != nil {
			panic(err)
		}
	}
}

// OnGift counts the ends of downloads.
func (b *walkerBase) OnGift(d entity.DownloadEnd) {
	switch {
	case d.ID != 7:
		panic("a gift that was not sent")
	case d.Err != nil:
		b.w.lost++
	default:
		b.w.given++
	}
}

// OnBeat sends the cell part a number.
func (b *walkerBase) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	b.kick(60)
	b.speak()
	b.pay(b.Base)
	if b.note(b.Base, &b.past) {
		b.Score.Set(b.Score.Get() + 3)
		fiddle(b.Sent.Get(), &b.Ledger)
	}
}

// Utter checks the other numbers of the cell; see echo.
func (b *walkerBase) Utter(life, n uint32) { b.utter(b.ID(), life, n) }

// OnRestored begins another life.
func (b *walkerBase) OnRestored() { b.begin(b.Base, &b.past) }

// OnKept hears what a copy has.
func (b *walkerBase) OnKept(c entity.Callback) { b.kept(b.ID(), c) }

// Told checks the cell's numbers; see hearing.
func (b *walkerBase) Told(life, n uint32) {
	b.hear(b.cellLife(b.ID()), life, n)
}

// roverBase is the base part of a rover.
type roverBase struct {
	*entity.Base
	echo
	noter
	hearer
	Score property.Int32
}

// OnCreated makes the cell part.
func (b *roverBase) OnCreated() {
	x := float32(uint64(b.ID())*131%(2*half)) - half
	_ = b.CreateCell(theSpace, property.Vector3{X: x, Z: -x / 2}, property.Vector3{}, nil)
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnBeat does the same as that of walkerBase.
func (b *roverBase) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	b.note(b.Base, &b.past)
}

// Utter does the same as that of walkerBase.
func (b *roverBase) Utter(life, n uint32) { b.utter(b.ID(), life, n) }

// OnRestored does the same as that of walkerBase.
func (b *roverBase) OnRestored() { b.begin(b.Base, &b.past) }

// OnKept does the same as that of walkerBase.
func (b *roverBase) OnKept(c entity.Callback) { b.kept(b.ID(), c) }

// Told does the same as that of walkerBase.
func (b *roverBase) Told(life, n uint32) {
	b.hear(b.cellLife(b.ID()), life, n)
}
