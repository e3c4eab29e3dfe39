package balance

import "fmt"

// Notices tells of every field that is set and that the policy of c does not look at: what it is for would not happen, and
// without a word. Validate finds what makes no sense at all.
func (c Config) Notices() (notices []string) {
	policy, other := ProfilePolicy, ClassicPolicy
	if c.Policy == ClassicPolicy {
		policy, other = other, policy
	}
	for _, f := range c.policyFields() {
		if f.set && f.of != policy {
			notices = append(notices, fmt.Sprintf("balance: %s is set and does nothing: policy %q does not look at it, %q does; leave it out, or set Policy", f.name, policy, other))
		}
	}
	return notices
}

type policyField struct {
	name, of string
	set      bool
}

// policyFields lists the fields that only one policy uses.
func (c Config) policyFields() []policyField {
	return []policyField{
		{"MetaTolerance", ClassicPolicy, c.MetaTolerance != 0},
		{"LowerBound", ClassicPolicy, c.LowerBound != 0},
		{"MaxCPUOffload", ClassicPolicy, c.MaxCPUOffload != 0},
		{"AggressionDecrease", ClassicPolicy, c.AggressionDecrease != 0},
		{"AggressionIncreasePeriod", ClassicPolicy, c.AggressionIncreasePeriod != 0},
		{"MaxAggressionIncreasePeriod", ClassicPolicy, c.MaxAggressionIncreasePeriod != 0},
		{"MaxAggression", ClassicPolicy, c.MaxAggression != 0},
		{"TargetLoad", ProfilePolicy, c.TargetLoad != 0},
		{"MinDifference", ProfilePolicy, c.MinDifference != 0},
		{"MinMove", ProfilePolicy, c.MinMove != 0},
		{"OffloadBudget", ProfilePolicy, c.OffloadBudget != 0},
	}
}
