package balance

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cellscape/cellscape/balance/load"
)

// Candidate is a CellApp that might run a new cell of a space.
type Candidate struct {
	// App and Space are those of the observation. The app's load includes the assumed load of cells
	// that the same plan gives it. A Scorer must not change or keep them.
	App   *App
	Space *Space
	// Cells is how many cells it runs, of all spaces.
	Cells int
	// GroupLoad is the average load of its group, the CellApps connected by shared spaces, in
	// nanoseconds of work per second.
	GroupLoad int64
	// Alike is how many apps with cells of the space are on its machine.
	Alike int
}

// Scorer ranks CellApps for a new cell; lower is better. ok is false for an app that must not get
// it. A rank that is not a number is such a veto, too, and is counted in Plan.Ignored. Rank must be
// a function of the candidate alone, or plans cannot be repeated.
type Scorer struct {
	Name string
	Rank func(c *Candidate) (rank float64, ok bool)
}

// scoreStep is the precision of scorers, a hundredth of a core. Loads fluctuate by about that much,
// and noise must not outweigh later scorers.
const scoreStep = load.Core / 100

// The names of the built-in scorers, as ScorersByName takes them.
const (
	limitedSpacesName   = "limitedSpaces"
	cellAppLoadName     = "cellAppLoad"
	groupLoadName       = "groupLoad"
	cellCellTrafficName = "cellCellTraffic"
	baseCellTrafficName = "baseCellTraffic"
)

// LimitedSpacesScorer refuses apps that already run that many cells, and ranks all others alike. If
// cells are also added for load, it can leave a crowd without help; the plan then names the space
// in Plan.Wanting.
func LimitedSpacesScorer(cells int) Scorer {
	return Scorer{limitedSpacesName, func(c *Candidate) (float64, bool) { return 0, c.Cells < cells }}
}

// AppLoadScorer prefers the app with the lowest estimated load, by the hundredth of a core.
func AppLoadScorer() Scorer {
	return Scorer{cellAppLoadName, func(c *Candidate) (float64, bool) { return float64(c.App.Estimated / scoreStep), true }}
}

// GroupLoadScorer prefers an app whose group is less loaded, by the hundredth of a core.
func GroupLoadScorer() Scorer {
	return Scorer{groupLoadName, func(c *Candidate) (float64, bool) { return float64(c.GroupLoad / scoreStep), true }}
}

// CellTrafficScorer prefers the machine with most apps of the space, since cells talk to each
// other.
func CellTrafficScorer() Scorer {
	return Scorer{cellCellTrafficName, func(c *Candidate) (float64, bool) { return float64(-c.Alike), true }}
}

// BaseTrafficScorer prefers the machine whose BaseApp asked for the space, Space.Preferred.
func BaseTrafficScorer() Scorer {
	return Scorer{baseCellTrafficName, func(c *Candidate) (float64, bool) {
		if p := c.Space.Preferred; p.IsValid() && p.Unmap() == c.App.Addr.Addr().Unmap() {
			return 0, true
		}
		return 1, true
	}}
}

// ScorersByName returns the scorers that a configuration names, in its order: limitedSpaces=N with
// the most cells of one app, cellAppLoad, groupLoad, cellCellTraffic and baseCellTraffic. The error
// reports all bad names.
func ScorersByName(names ...string) ([]Scorer, error) {
	var scorers []Scorer
	var errs []error
	for i, name := range names {
		s, err := scorerByName(name)
		if err == nil && slices.ContainsFunc(scorers, func(o Scorer) bool { return o.Name == s.Name }) {
			err = errors.New("is named twice: leave out the second, which has no effect")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("balance: scorer %d, %q: %w", i+1, name, err))
			continue
		}
		scorers = append(scorers, s)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return scorers, nil
}

func scorerByName(text string) (Scorer, error) {
	name, parameter, has := strings.Cut(text, "=")
	if name == limitedSpacesName {
		n, err := strconv.Atoi(parameter)
		if err != nil || n < 1 {
			return Scorer{}, errors.New("give the most cells of one app, at least 1, for example limitedSpaces=3")
		}
		return LimitedSpacesScorer(n), nil
	}
	var s Scorer
	switch name {
	case cellAppLoadName:
		s = AppLoadScorer()
	case groupLoadName:
		s = GroupLoadScorer()
	case cellCellTrafficName:
		s = CellTrafficScorer()
	case baseCellTrafficName:
		s = BaseTrafficScorer()
	default:
		return s, fmt.Errorf("there is none of this name: set %s=N, %s, %s, %s or %s",
			limitedSpacesName, cellAppLoadName, groupLoadName, cellCellTrafficName, baseCellTrafficName)
	}
	if has {
		return s, fmt.Errorf("%s takes no parameter: leave out %q", name, "="+parameter)
	}
	return s, nil
}
