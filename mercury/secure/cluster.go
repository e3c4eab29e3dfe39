package secure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/mercury"
)

// MaxClusterKeys is enough to add a key everywhere before it is used anywhere, and to remove the
// old one last.
const MaxClusterKeys = 4

// errClusterKeys refuses a SetClusterKeys that would make a Guard begin or cease to ask for proof.
var errClusterKeys = errors.New("secure: a Guard has cluster keys from the first, or never")

const proofID = 8 // bytes that name a key in the clear

// proof is a key that both ends of a handshake must have, and the standing that it proves.
type proof struct {
	id       [proofID]byte
	key      secret
	standing mercury.Standing
}

func newProof(key secret, standing mercury.Standing) proof {
	return proof{[proofID]byte(key.derive("proof id", nil, proofID)), key, standing}
}

// given reports whether there is a proof. Without one a dialler is a stranger.
func (p *proof) given() bool { return p != nil && p.standing > mercury.Stranger }

// member is the key by which processes prove membership. Like the keys of Observer and Operator it
// is derived from k, so none of the three reveals another.
func (k ClusterKey) member() secret { return secret((*secret)(&k).derive("member", nil, KeySize)) }

// Observer is the key with which a program outside of the cluster may read its status.
func (k ClusterKey) Observer() AccessKey { return k.access(mercury.Observer) }

// Operator is the key with which a program outside of the cluster may also give it orders.
func (k ClusterKey) Operator() AccessKey { return k.access(mercury.Operator) }

func (k ClusterKey) access(s mercury.Standing) AccessKey {
	return AccessKey{s, secret((*secret)(&k).derive(s.String(), nil, KeySize))}
}

// ClusterKey derives a cluster key from k, for those who have drawn none. It cannot be derived from
// k.Public().
func (k PrivateKey) ClusterKey() ClusterKey {
	return ClusterKey((*secret)(&k).derive("cluster key", nil, KeySize))
}

func (k AccessKey) proof() proof { return newProof(k.key, k.standing) }

func checkClusterKeys(keys []ClusterKey) error {
	if len(keys) > MaxClusterKeys {
		return fmt.Errorf("%d of them: take up to %d", len(keys), MaxClusterKeys)
	}
	for i, k := range keys {
		if k.IsZero() {
			return fmt.Errorf("number %d is zero: draw it with GenerateClusterKey", i)
		}
		if slices.Contains(keys[:i], k) {
			return fmt.Errorf("number %d occurs twice: leave one out", i)
		}
	}
	return nil
}

// SetClusterKeys changes Config.ClusterKeys: the Guard dials with the first and accepts all. Give a
// new key last everywhere, then first everywhere, then leave the old one out everywhere. Channels
// stay open with what their opening proved. A handshake that is under way when a key is left out
// begins again. On error nothing changes.
func (g *Guard) SetClusterKeys(keys []ClusterKey) error {
	if err := checkClusterKeys(keys); err != nil {
		return fmt.Errorf("secure: cluster keys: %w", err)
	}
	if (len(keys) == 0) != (len(g.proofs) == 0) {
		return errClusterKeys
	}
	before := g.proofs
	g.takeClusterKeys(keys)
	for i := range before {
		if g.proofOf(before[i].id) == nil {
			g.passes.forget() // some were made with that key
			break
		}
	}
	return nil
}

func (g *Guard) takeClusterKeys(keys []ClusterKey) {
	g.proofs = nil
	for _, k := range keys {
		g.proofs = append(g.proofs, newProof(k.member(), mercury.Member), k.Operator().proof(), k.Observer().proof())
	}
	if len(g.proofs) > 0 {
		g.dials = g.proofs[0]
	}
}

// proofOf finds the key that a dialler names; nil if it is not, or no longer, one of the cluster's.
func (g *Guard) proofOf(id [proofID]byte) *proof {
	for i := range g.proofs {
		if g.proofs[i].id == id {
			return &g.proofs[i]
		}
	}
	return nil
}

// unproved is the standing of a peer that has proved nothing.
func (g *Guard) unproved() mercury.Standing {
	if len(g.proofs) > 0 {
		return mercury.Stranger
	}
	return mercury.Trusted
}

// lets reports whether a standing opens this door.
func (g *Guard) lets(s mercury.Standing) bool { return s >= g.config.Least }
