package main

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// politeness is how much this process gives way to the servers', as a nice value: some seven tenths
// of a core that both want are theirs.
const politeness = 4

// yield has this process, which is the players', give way to the servers: players have machines of
// their own. It goes by threads; those that start later follow the ones that start them.
func yield() error {
	const threads = "/proc/self/task"
	list, err := os.ReadDir(threads)
	if err != nil {
		return err
	}
	var faults []error
	for _, t := range list {
		id, err := strconv.Atoi(t.Name())
		if err == nil {
			err = syscall.Setpriority(syscall.PRIO_PROCESS, id, politeness)
		}
		if !errors.Is(err, syscall.ESRCH) { // one that has ended since
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
