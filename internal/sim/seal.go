package sim

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// staticKey is what a sealed cluster is known by, and clusterKey what its processes know each
// other by. That everyone can read them here harms nobody.
func staticKey() secure.PrivateKey  { return secure.PrivateKey{1} }
func clusterKey() secure.ClusterKey { return staticKey().ClusterKey() }

// seal gives an endpoint the Guard of a start of p, if the cluster is sealed. Its chance is its
// own, so that runs in the clear are not other ones.
func (p *Process) seal(cfg *mercury.Config) (err error) {
	if !p.c.opts.Sealed {
		return nil
	}
	keys := p.keys
	if keys == nil {
		keys = p.roleKeys()
	}
	seed := [32]byte{31: 1}
	binary.LittleEndian.PutUint64(seed[:], p.c.opts.Seed)
	binary.LittleEndian.PutUint16(seed[8:], p.port)
	binary.LittleEndian.PutUint32(seed[10:], uint32(p.starts))
	own := *keys
	own.Random = rand.NewChaCha8(seed)
	if p.guard, err = secure.New(own); err == nil {
		cfg.Guard = p.guard
	}
	return err
}

// roleKeys are what a process of its role knows, and lets in.
func (p *Process) roleKeys() *secure.Config {
	member := secure.Config{Key: staticKey(), ServerKey: staticKey().Public(), ClusterKeys: []secure.ClusterKey{clusterKey()}}
	switch at := int(p.port); {
	case at == portManager:
		member.Least = mercury.Observer
	case at == portBaseAppMgr, at >= portCellApps && at < portPlayers:
		member.Least = mercury.Member
	case at == portObserver:
		return &secure.Config{ServerKey: staticKey().Public(), Access: clusterKey().Operator()}
	case at >= portPlayers:
		return &secure.Config{ServerKey: staticKey().Public()}
	}
	return &member // players reach it, too
}
