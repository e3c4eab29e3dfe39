package host

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/mercury/secure"
)

// ErrUnsealed is returned by SetClusterKeys of a Process without Secure.
var ErrUnsealed = errors.New("host: the process is not Secure")

// SetClusterKeys changes the cluster keys of a Secure process while it runs, for the present start
// and those to come; see secure.Guard.SetClusterKeys. On error nothing changes. It waits as Do
// does.
func (p *Process) SetClusterKeys(keys []secure.ClusterKey) error {
	err := ErrUnsealed
	if do := p.Do(func(App) {
		if p.opts.secure != nil {
			err = p.setClusterKeys(slices.Clone(keys))
		}
	}); do != nil {
		return do
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

func (p *Process) setClusterKeys(keys []secure.ClusterKey) error {
	for _, g := range p.seals { // what one refuses all do, so that the first speaks for all
		if g == nil {
			continue
		}
		if err := g.SetClusterKeys(keys); err != nil {
			return err
		}
	}
	cfg := *p.opts.secure
	cfg.ClusterKeys = keys
	p.opts.secure = &cfg
	return nil
}

// asksForProof reports whether the process tells members of its cluster from strangers.
func (p *Process) asksForProof() bool {
	return p.opts.secure != nil && len(p.opts.secure.ClusterKeys) > 0
}
