package wire

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/codec"
)

// Version is the version of the messages between processes. Raise it with every change of what one of
// them looks like or means, and with every new one: TestLayouts fails else, for what it can see. Only
// processes of one version share a cluster, and whoever comes with another is told so (Disagreement).
//
// Three layouts never change, since they are read before the versions are known to agree: a Join, to
// the end of its Speaks; a LeaseAsk, to the end of its Digest; and a Refused. Nor do the ids of the
// three. A version may add to the first two at their end, which other versions do not read.
const Version = 2

// Versions are those that a build speaks, from the oldest to the newest. Zero is said by builds from
// before there were versions. A build that speaks several may join any cluster of one of them.
type Versions struct{ Oldest, Newest uint16 }

// Spoken is what this build speaks.
func Spoken() Versions { return Versions{Version, Version} }

// Has reports whether a version is among them.
func (v Versions) Has(version uint16) bool { return v.Oldest <= version && version <= v.Newest }

// String names them in a sentence.
func (v Versions) String() string {
	switch {
	case v == Versions{}:
		return "no version (it is from before there were any)"
	case v.Oldest == v.Newest:
		return fmt.Sprintf("version %d", v.Oldest)
	}
	return fmt.Sprintf("versions %d to %d", v.Oldest, v.Newest)
}

func (v *Versions) code(c *codec.Coder) {
	c.U16(&v.Oldest)
	c.U16(&v.Newest)
}

// foreign reads on behind the part of a message that never changes. It reports whether the rest is of
// a version that this build does not know, and then leaves it out.
func (v *Versions) foreign(r *codec.Reader) bool {
	if r.Err() != nil || v.Has(Version) {
		return false
	}
	r.Rest()
	return true
}

// Disagreement says why a process cannot share a cluster with this one, or "": it speaks other
// messages, or has other definitions. has is the digest of those of this process. An observer has
// none.
func (j *Join) Disagreement(has [16]byte) string {
	if j.Role == Observer {
		return disagreement(j.Speaks, has, has)
	}
	return disagreement(j.Speaks, j.Digest, has)
}

// Disagreement says the same of another manager.
func (m *LeaseAsk) Disagreement(has [16]byte) string {
	return disagreement(m.Speaks, m.Digest, has)
}

func disagreement(speaks Versions, digest, has [16]byte) string {
	switch {
	case !speaks.Has(Version):
		return fmt.Sprintf("between processes it speaks %v, and this cluster speaks version %d: they are built with different versions of the library. "+
			"Start it from a build of the cluster's version; or stop the whole world, and start all of it from the new build", speaks, Version)
	case digest != has:
		return fmt.Sprintf("other entity definitions: digest %x, the cluster has %x. Start it with the cluster's definitions; "+
			"or stop the whole world and start all of it with the new ones, which its store takes over, or start a new world beside it, with a store of its own", digest, has)
	}
	return ""
}
