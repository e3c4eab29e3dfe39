package migrate

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

const (
	// MaxReplicas bounds the apps that hold copies of one base: more than die at the same time, while
	// each one costs as much traffic again.
	MaxReplicas = 4

	// MaxPartners bounds the list of a Rule. The bases of a dead app are spread over so many that none
	// of them gets more than a thirtieth, and a verdict that carries the list stays small.
	MaxPartners = 32

	// MaxChain bounds the deaths through which a base is followed. A base that has outlived so many
	// apps counts as gone.
	MaxChain = 64
)

// Rule says which apps hold the copies of the bases of one app, its owner. The zero value is the rule
// of an app that nobody holds anything for.
type Rule struct {
	// Version rises with each rule of the owner; 0 means that there has been none.
	Version uint64
	// Covers is the newest departure whose bases, as far as they came to the owner, have copies by this
	// rule; see Departure.Number.
	Covers uint64
	// Replicas is how many of the list hold each base.
	Replicas uint8
	// List are the apps, at most MaxPartners.
	List []mercury.Address
}

// Clone returns a rule that shares nothing with r.
func (r *Rule) Clone() Rule {
	out := *r
	out.List = slices.Clone(r.List)
	return out
}

// Code codes a rule as a field of a message.
func (r *Rule) Code(c *codec.Coder) {
	c.Uvarint(&r.Version)
	c.Uvarint(&r.Covers)
	c.U8(&r.Replicas)
	if r.Replicas > MaxReplicas {
		c.Fail(codec.ErrValue)
	}
	codec.List(c, &r.List, MaxPartners, 2, fields.Address)
	if len(r.List) == 0 {
		r.List = nil
	}
}

// Holders appends the apps that hold the copies of a base of the owner by the rule, the first in rank
// first.
func (r *Rule) Holders(to []mercury.Address, owner mercury.Address, id entity.ID) []mercury.Address {
	return Holders(to, owner, id, r.List, int(r.Replicas))
}

// Holders appends the replicas of the list that rank highest for a base of the owner: fewer if the
// list has fewer. It is rendezvous hashing, which moves few bases when the list changes: only those
// that an app which comes now ranks high for, or one that goes did. The order of the list does not
// matter. Apps on other hosts than the owner's rank above those on its own, since a host dies whole.
func Holders(to []mercury.Address, owner mercury.Address, id entity.ID, list []mercury.Address, replicas int) []mercury.Address {
	return rank(to, owner, uint64(id), list, min(replicas, MaxReplicas))
}

// Partners appends the apps of a list that the owner backs up to: all, or the MaxPartners that rank
// highest for it.
func Partners(to []mercury.Address, owner mercury.Address, list []mercury.Address) []mercury.Address {
	return rank(to, owner, weigh(0, owner), list, MaxPartners)
}

// rank appends the most of the list that rank highest for a key.
func rank(to []mercury.Address, owner mercury.Address, key uint64, list []mercury.Address, most int) []mercury.Address {
	var best [MaxPartners]ranked
	n := 0
	for _, app := range list {
		x := ranked{app, app.At.Addr() != owner.At.Addr(), weigh(key, app)}
		at := n
		for at > 0 && x.above(&best[at-1]) {
			at--
		}
		if at >= most || app == owner || at > 0 && best[at-1].app == app {
			continue
		}
		n = min(n+1, most)
		copy(best[at+1:n], best[at:n-1])
		best[at] = x
	}
	for i := range n {
		to = append(to, best[i].app)
	}
	return to
}

type ranked struct {
	app    mercury.Address
	away   bool // on another host than the owner
	weight uint64
}

func (x *ranked) above(y *ranked) bool {
	switch {
	case x.away != y.away:
		return x.away
	case x.weight != y.weight:
		return x.weight > y.weight
	}
	return cmp.Or(x.app.At.Compare(y.app.At), cmp.Compare(x.app.Salt, y.app.Salt)) < 0
}

// weigh hashes a key together with an app: the words of both go through the finalizer of splitmix64
// one by one, so that neighbours in either come out unlike.
func weigh(key uint64, app mercury.Address) uint64 {
	ip := app.At.Addr().As16()
	h := mix(key)
	h = mix(h ^ binary.LittleEndian.Uint64(ip[:8]))
	h = mix(h ^ binary.LittleEndian.Uint64(ip[8:]))
	return mix(h ^ uint64(app.At.Port())<<32 ^ uint64(app.Salt))
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
