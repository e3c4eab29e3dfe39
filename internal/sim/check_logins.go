package sim

import (
	"fmt"

	"github.com/cellscape/cellscape/entity/baseapp"
)

// loginsBounded checks that logins never make a BaseApp have more proxies than LoginConfig.MaxProxies,
// through however many LoginApps they come. Those that came from BaseApps that are gone do not count.
type loginsBounded struct{ c *Cluster }

func (x *loginsBounded) safe() error {
	most := x.c.maxProxies()
	if most == 0 {
		return nil
	}
	proxies := map[*Process]int{}
	var err error
	x.c.eachBase(func(p *Process, _ *baseapp.BaseApp, b baseapp.BaseView) {
		if b.Account == "" || b.Life > 0 {
			return
		}
		if proxies[p]++; proxies[p] > most && err == nil {
			err = fmt.Errorf("logins have made more than %d proxies on %s; one is of %s", most, p.Name, b.Account)
		}
	})
	return err
}

func (x *loginsBounded) converged() error { return nil }
