package watch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// Process names a process of a world, by its role (status.RoleCellApp and so on) and its number, as
// the status has them. Number 0 is the only process of its role.
type Process struct {
	Role   string
	Number uint32
}

// String is the short form: "cellapp2", "cellappmgr".
func (p Process) String() string {
	if p.Number == 0 {
		return strings.ToLower(p.Role)
	}
	return strings.ToLower(p.Role) + strconv.FormatUint(uint64(p.Number), 10)
}

// ParseProcess reads the short form.
func ParseProcess(s string) (Process, error) {
	name := strings.TrimRight(s, "0123456789")
	var number uint64
	var err error
	if name != s {
		number, err = strconv.ParseUint(s[len(name):], 10, 32)
	}
	for _, role := range Roles() {
		if err == nil && strings.EqualFold(name, role) {
			return Process{role, uint32(number)}, nil
		}
	}
	return Process{}, fmt.Errorf("watch: %q names no process: write a role and a number, such as cellapp2, or a role that has only one process, such as cellappmgr", s)
}

// Roles are the roles of processes.
func Roles() []string {
	return []string{status.RoleCellAppMgr, status.RoleCellApp, status.RoleBaseAppMgr, status.RoleBaseApp, status.RoleDBApp, status.RoleLoginApp}
}
