package secure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/mercury"
)

// MaxClusterKeys is enough for a key to be taken in everywhere before it is used anywhere, and for the one before to go
// last.
const MaxClusterKeys = 4

// errClusterKeys is what SetClusterKeys says of a Guard that would begin, or cease, to ask for proof while it lives.
var errClusterKeys = errors.New("secure: a Guard has cluster keys from the first, or never")

const proofID = 8 // bytes that name a key in the clear

// proof is a key that both ends of a handshake must have, and what who has it is.
type proof struct {
	id       [proofID]byte
	key      secret
	standing mercury.Standing
}

func newProof(key secret, standing mercury.Standing) proof {
	return proof{[proofID]byte(key.derive("proof id", nil, proofID)), key, standing}
}

// given reports whether there is a proof: without one a dialler stays a stranger.
func (p *proof) given() bool { return p != nil && p.standing > mercury.Stranger }

// member is the key that processes prove membership by. Like the keys of Observer and Operator it is drawn out of k, so
// that who has one of them does not have another.
func (k ClusterKey) member() secret { return secret((*secret)(&k).derive("member", nil, KeySize)) }

// Observer is the key by which who is no process of the cluster may be told how it is.
func (k ClusterKey) Observer() AccessKey { return k.access(mercury.Observer) }

// Operator is the key by which who is no process of the cluster may tell it what to do, too.
func (k ClusterKey) Operator() AccessKey { return k.access(mercury.Operator) }

func (k ClusterKey) access(s mercury.Standing) AccessKey {
	return AccessKey{s, secret((*secret)(&k).derive(s.String(), nil, KeySize))}
}

// ClusterKey is the cluster key of those who share k and have drawn none: who knows k.Public() alone cannot tell it.
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
			return fmt.Errorf("number %d is there twice: leave one out", i)
		}
	}
	return nil
}

// SetClusterKeys changes Config.ClusterKeys: the first is dialled with, all are accepted. Give a new key last everywhere,
// then first everywhere, then leave the old one out everywhere. Channels go on: what was proved when they were opened stays
// proved. A handshake that is under way when a key is left out begins anew. On error nothing changes.
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
			g.passes.forget() // some were made by that key
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

// proofOf finds the key that a dialler names; nil if it is not, or not any more, one of the cluster's.
func (g *Guard) proofOf(id [proofID]byte) *proof {
	for i := range g.proofs {
		if g.proofs[i].id == id {
			return &g.proofs[i]
		}
	}
	return nil
}

// unproved is the standing of who has proved nothing.
func (g *Guard) unproved() mercury.Standing {
	if len(g.proofs) > 0 {
		return mercury.Stranger
	}
	return mercury.Trusted
}

// lets reports whether a standing opens this door.
func (g *Guard) lets(s mercury.Standing) bool { return s >= g.config.Least }
