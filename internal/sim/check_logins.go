package sim

import (
	"fmt"
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
	for b := range x.c.bases() {
		if b.Account == "" || b.Life > 0 {
			continue
		}
		if proxies[b.p]++; proxies[b.p] > most {
			return fmt.Errorf("logins have made more than %d proxies on %s; one is of %s", most, b.p.Name, b.Account)
		}
	}
	return nil
}

func (x *loginsBounded) converged() error { return nil }
