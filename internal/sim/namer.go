package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/property"
)

// Namers take names that only one base of the cluster may have, give them up, and ask who has one.
// They have others like them made elsewhere, which live for a while.

const namerDef = `
<root>
	<Properties>
		<fellow> <Type> BOOL </Type> <Flags> BASE </Flags> </fellow>
		<has>    <Type> ARRAY <of> STRING </of> </Type> <Flags> BASE </Flags> </has>
		<asked>  <Type> INT64 </Type> <Flags> BASE </Flags> </asked>
		<open>   <Type> MAP <key> INT64 </key> <of> STRING </of> </Type> <Flags> BASE </Flags> </open>
	</Properties>
</root>`

// manyNames is how many names they fight for.
const manyNames = 5

// namer is the base part of a namer; it has no other.
type namer struct {
	*entity.Base
	Fellow property.Bool // made by another
	w      *world        `cellscape:"local"`
	// Has are the names that it was told it has.
	Has property.Slice[string]
	// Asked counts its requests. Open are those without an answer, twice those that were answered a
	// second time.
	Asked property.Int64
	Open  property.Map[int64, string]
	twice int `cellscape:"local"`
	made  int `cellscape:"local"` // bases that it got
	beats int `cellscape:"local"`
}

// OnCreated starts the beat.
func (b *namer) OnCreated() {
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// next is the user number of its next request.
func (b *namer) next() int64 { return b.Asked.Get() + 1 }

// begin notes a request that was made with that number.
func (b *namer) begin(what string, err error) {
	if err == nil {
		b.Asked.Set(b.next())
		_ = b.Open.Set(b.Asked.Get(), what)
	}
}

func (b *namer) end(what string, user int64) {
	if was, _ := b.Open.Get(user); was != what {
		b.twice++
	}
	_ = b.Open.Delete(user)
}

// names are those that it has.
func (b *namer) names() (list []string) {
	for _, name := range b.Has.All() {
		list = append(list, name)
	}
	return list
}

// OnBeat does one of these things, in the bad time.
func (b *namer) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	if b.beats++; b.w.calm {
		return
	}
	chance := b.w.chance.names
	name := fmt.Sprint("name ", chance.IntN(manyNames))
	switch what := chance.IntN(20); {
	case what < 6:
		b.begin("name", b.RegisterName(name, "OnName", b.next()))
	case what < 8:
		b.UnregisterName(name)
		if i := slices.Index(b.names(), name); i >= 0 {
			_ = b.Has.Delete(i, i+1)
		}
	case what < 10:
		b.begin("find", b.LookupName(name, "OnFound", b.next()))
	case b.Fellow.Get() && b.beats > 10:
		b.Destroy()
	case what < 14 && !b.Fellow.Get():
		b.begin("base", b.CreateBase(entity.BaseInfo{Type: "Namer", Init: befriend}, "OnFellow", b.next()))
	}
}

func befriend(v *property.Values) {
	_ = v.Set(v.Definition().Property("fellow").Index, property.BoolValue(true))
}

// OnName takes in whether it has the name.
func (b *namer) OnName(r entity.NameReply) {
	b.end("name", r.User)
	if r.Err == nil && !slices.Contains(b.names(), r.Name) {
		_ = b.Has.Append(r.Name)
	}
}

// OnNameLost hears that another has the name: two managers that both started anew while a BaseApp
// was away gave it twice.
func (b *namer) OnNameLost(name string, _ property.Mailbox) {
	if i := slices.Index(b.names(), name); i >= 0 {
		_ = b.Has.Delete(i, i+1)
	}
}

// OnFound hears who has a name.
func (b *namer) OnFound(r entity.NameReply) { b.end("find", r.User) }

// OnFellow hears of a new base.
func (b *namer) OnFellow(r entity.BaseReply) {
	b.end("base", r.User)
	if !r.Base.IsZero() {
		b.made++
	}
}

// namesUnique checks that a name has one base, and that each request is answered once. A BaseApp that
// was declared dead believes in its names until it hears of that, so in the bad time it only checks
// while nobody was.
type namesUnique struct{ c *Cluster }

func (k *namesUnique) safe() error {
	err := k.unique()
	if err != nil && (slices.ContainsFunc(k.c.baseApps, func(p *Process) bool { return !p.alive || p.starts > 1 }) || k.c.judged()) {
		return nil
	}
	return err
}

func (k *namesUnique) unique() error {
	holder := map[string]entity.ID{}
	for at, b := range basesOf[*namer](k.c) {
		for _, name := range b.names() {
			if other := holder[name]; other != 0 {
				return fmt.Errorf("%v on %s has %q, and so has %v", b.ID(), at.p.Name, name, other)
			}
			holder[name] = b.ID()
		}
		if b.twice > 0 {
			return fmt.Errorf("%v on %s had %d answers without a request", b.ID(), at.p.Name, b.twice)
		}
	}
	return nil
}

func (k *namesUnique) converged() error {
	var faults []error
	names := k.c.opts.Wild.Beacons // each has one
	for at, b := range basesOf[*namer](k.c) {
		names += b.Has.Len()
		if b.Open.Len() > 0 {
			faults = append(faults, fmt.Errorf("%v on %s still waits for %d answers", b.ID(), at.p.Name, b.Open.Len()))
		}
	}
	if n := k.c.baseAppMgr().Counts().Names; n != names {
		faults = append(faults, fmt.Errorf("the BaseAppMgr knows %d names, the bases have %d", n, names))
	}
	return errors.Join(append(faults, k.unique())...)
}

func (c *Cluster) baseAppMgr() *baseappmgr.BaseAppMgr {
	return c.logins[0].app.(*baseappmgr.BaseAppMgr)
}
