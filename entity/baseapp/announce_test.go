package baseapp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// rejoin breaks the channel to the BaseAppMgr, and lets the app join at.
func (r *rig) rejoin(at mercury.Address) {
	r.t.Helper()
	r.net.ended[r.bases] = true
	r.a.Closed(r.now, r.bases, mercury.ErrTimeout)
	r.pass(2 * time.Second)
	r.net.sent = nil
	r.bases = r.open(at)
}

// announced reads what a join said: the Join, and behind it the proxies. It returns the number of
// entries of each message, and all entries.
func (r *rig) announced(to mercury.Address) (sizes []int, all []wire.Proxy) {
	r.t.Helper()
	for i, msg := range r.take(to) {
		id, body, err := wire.Split(msg)
		if err != nil {
			r.t.Fatal(err)
		}
		if i == 0 {
			if id != wire.JoinID {
				r.t.Fatalf("message %d comes before the Join", id)
			}
			continue
		}
		if id == wire.NamesID {
			continue // see TestRegisterName
		}
		var m wire.Proxies
		if id != wire.ProxiesID || m.Parse(body) != nil {
			r.t.Fatalf("message %d behind the Join", id)
		}
		sizes, all = append(sizes, len(m.Entries)), append(all, m.Entries...)
	}
	return sizes, all
}

func TestJoinAnnouncesProxies(t *testing.T) {
	r := joinedRig(t)
	ann, bob, cid := r.login("ann"), r.login("bob"), r.login("cid")
	r.spawn() // a base of no account
	r.script(bob.ID).Destroy()
	// Dan's proxy lives until its cell part is gone.
	dan := r.login("dan")
	r.create(dan.ID, r.script(dan.ID))
	r.current(appX, dan.ID, 1, 0, 0)
	r.script(dan.ID).Destroy()

	r.rejoin(address(3, 99)) // the BaseAppMgr has started again
	want := []wire.Proxy{{Account: "ann", ID: ann.ID, Origin: ann.ID}, {Account: "cid", ID: cid.ID, Origin: cid.ID}, {Account: "dan", ID: dan.ID, Origin: dan.ID}}
	if sizes, got := r.announced(address(3, 99)); !slices.Equal(got, want) || len(sizes) != 1 {
		t.Errorf("announced %v in %v, want %v", got, sizes, want)
	}
	// And each time that it joins, also at another place.
	moved := address(33, 5)
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5, BaseAppMgr: moved})
	r.tick()
	r.bases = r.open(moved)
	if _, got := r.announced(moved); !slices.Equal(got, want) {
		t.Errorf("announced %v, want %v", got, want)
	}
}

func TestJoinWithoutProxies(t *testing.T) {
	r := joinedRig(t)
	r.spawn()
	r.rejoin(baseAppMgr)
	if sizes, _ := r.announced(baseAppMgr); len(sizes) != 0 {
		t.Errorf("announced %v", sizes)
	}
	// The CellAppMgr is told nothing of accounts.
	r.login("ann")
	r.net.ended[r.managers] = true
	r.a.Closed(r.now, r.managers, mercury.ErrTimeout)
	r.pass(2 * time.Second)
	r.net.sent = nil
	r.open(cellAppMgr)
	if sizes, _ := r.announced(cellAppMgr); len(sizes) != 0 {
		t.Errorf("announced %v to the CellAppMgr", sizes)
	}
}

func TestAnnouncesInChunks(t *testing.T) {
	r := joinedRig(t)
	var ids []entity.ID
	for _, x := range []struct {
		proxies int
		sizes   []int
	}{
		{wire.MaxProxies - 1, []int{wire.MaxProxies - 1}},
		{wire.MaxProxies, []int{wire.MaxProxies}},
		{wire.MaxProxies + 1, []int{wire.MaxProxies, 1}},
		{2*wire.MaxProxies + 3, []int{wire.MaxProxies, wire.MaxProxies, 3}},
	} {
		for len(ids) < x.proxies {
			ids = append(ids, r.login(fmt.Sprint("player ", len(ids))).ID)
		}
		r.rejoin(baseAppMgr)
		sizes, got := r.announced(baseAppMgr)
		if !slices.Equal(sizes, x.sizes) {
			t.Errorf("%d proxies in chunks of %v, want %v", x.proxies, sizes, x.sizes)
		}
		for i, p := range got {
			if p.ID != ids[i] || p.Account != fmt.Sprint("player ", i) {
				t.Fatalf("entry %d is %+v", i, p)
			}
		}
	}
}
