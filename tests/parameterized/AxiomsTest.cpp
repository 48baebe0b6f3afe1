// The axioms by which formulas know trees, parts and powers, against the things themselves.
#include "parameterized/Axioms.h"

#include <gtest/gtest.h>

#include <bit>

namespace colldsl::parameterized {
namespace {

using namespace std::chrono_literals;

class Axiomatic : public testing::Test {
protected:
  Prover prover{Prover::Clock::now() + 600s, 20s};
  Ranks ranks{prover};
  Axioms axioms{prover, ranks};

  Term number(int64_t n) { return prover.number(n); }
  /// True if the facts about numbers contradict the axioms.
  bool isRefuted(const Terms &facts) { return prover.refutes(facts); }
};

TEST_F(Axiomatic, PartsAreWhereTheLanguagePutsThem) {
  // Part i of k begins at i * length / k.
  for (int64_t length : {0, 1, 5, 12})
    for (int64_t count : {1, 3, 7}) {
      Terms facts;
      for (int64_t i = 0; i <= count; ++i)
        facts.push_back(axioms.parts().begin(number(length), number(count), number(i)) ==
                        number(i * length / count));
      for (int64_t e = 0; e < length; ++e) {
        int64_t part = 0;
        while ((part + 1) * length / count <= e)
          ++part;
        facts.push_back(axioms.parts().index(number(length), number(count), number(e)) ==
                        number(part));
      }
      EXPECT_FALSE(isRefuted(facts)) << length << " in " << count;
    }
}

/// Texts may say where parts begin, and of which part an element is.
TEST_F(Axiomatic, PartsOfProducts) {
  Term n = prover.constant("n"), k = prover.constant("k"), i = prover.constant("i");
  for (int64_t length : {4, 5, 12})
    for (int64_t count : {2, 3}) {
      Terms facts{n == number(length), k == number(count), 0 <= i, i <= k};
      Term begin = axioms.quotient(facts, i * n, k), swapped = axioms.quotient(facts, n * i, k);
      EXPECT_TRUE(z3::eq(begin, axioms.parts().begin(n, k, i)));
      EXPECT_TRUE(z3::eq(swapped, begin));
      Terms values = facts;
      for (int64_t e = 0; e < length; ++e) {
        int64_t part = 0;
        while ((part + 1) * length / count <= e)
          ++part;
        Term element = prover.constant("e" + std::to_string(e));
        values.push_back(element == number(e));
        values.push_back(axioms.quotient({}, (element + 1) * k - 1, n) == number(part));
        EXPECT_EQ(((e + 1) * count - 1) / length, part);
      }
      EXPECT_FALSE(isRefuted(values)) << length << " in " << count;
    }
  // No part is empty if there are enough elements.
  Terms facts{0 < k, k <= n, 0 <= i, i < k};
  Term begin = axioms.quotient(facts, i * n, k), next = axioms.quotient(facts, (i + 1) * n, k);
  EXPECT_TRUE(prover.proves(facts, begin < next));
  EXPECT_TRUE(prover.proves(facts, axioms.quotient(facts, (begin + 1) * k - 1, n) == i));
}

TEST_F(Axiomatic, PowersAndLogarithms) {
  Terms facts;
  for (int64_t n = 1; n <= 20; ++n) {
    auto bits = static_cast<uint64_t>(n);
    facts.push_back(axioms.powerOfTwoUpTo(number(n)) ==
                    number(static_cast<int64_t>(std::bit_floor(bits))));
    facts.push_back(axioms.logarithm(number(n)) == number(n == 1 ? 0 : std::bit_width(bits - 1)));
  }
  for (int64_t k = 0; k < 10; ++k)
    facts.push_back(axioms.powerOfTwo(number(k)) == number(int64_t{1} << k));
  EXPECT_FALSE(isRefuted(facts));
  facts.push_back(axioms.powerOfTwo(number(10)) == number(1000));
  EXPECT_TRUE(isRefuted(facts));
}

TEST_F(Axiomatic, PowersAndLogarithmsToAnyBase) {
  for (int64_t base : {2, 3, 5}) {
    // Constants, so that no product is one with a number.
    Term b = prover.constant("base" + std::to_string(base));
    Terms facts{b == number(base)};
    int64_t power = 1;
    std::vector<Term> exponents;
    for (int64_t e = 0; e < 5; ++e, power *= base) {
      exponents.push_back(prover.constant("e" + std::to_string(e)));
      facts.push_back(exponents.back() == number(e));
      facts.push_back(axioms.power(b, exponents.back()) == number(power));
    }
    for (int64_t n = 1; n <= 12; ++n) {
      int64_t down = 0, up = 0;
      for (int64_t p = base; p <= n; p *= base)
        ++down;
      for (int64_t p = 1; p < n; p *= base)
        ++up;
      Term value = prover.constant("n" + std::to_string(n));
      facts.push_back(value == number(n));
      facts.push_back(axioms.logarithmDown(value, b) == number(down));
      facts.push_back(axioms.logarithmUp(value, b) == number(up));
    }
    EXPECT_FALSE(isRefuted(facts)) << base;
    Terms wrong = facts;
    wrong.push_back(axioms.power(b, exponents[3]) == axioms.power(b, exponents[2]));
    EXPECT_TRUE(isRefuted(wrong)) << base;
    wrong = facts;
    wrong.push_back(axioms.logarithmDown(b, b) == number(0));
    EXPECT_TRUE(isRefuted(wrong)) << base;
    wrong = facts;
    wrong.push_back(axioms.logarithmUp(b, b) == number(2));
    EXPECT_TRUE(isRefuted(wrong)) << base;
  }
}

TEST_F(Axiomatic, MultiplesOfPowersToAnyBase) {
  for (int64_t base : {2, 3, 5}) {
    Term b = prover.constant("base" + std::to_string(base));
    Terms facts{b == number(base)};
    std::vector<Term> powers, numbers;
    int64_t power = 1;
    for (int64_t e = 0; e < 4; ++e, power *= base) {
      Term exponent = prover.constant("e" + std::to_string(e));
      powers.push_back(axioms.power(b, exponent));
      facts.push_back(exponent == number(e) && powers.back() == number(power));
    }
    auto multiple = [&](const Term &n, size_t e) {
      return axioms.product(axioms.quotient({}, n, powers[e]), powers[e]);
    };
    for (int64_t n = 0; n < 11; ++n) {
      numbers.push_back(prover.constant("n" + std::to_string(n)));
      facts.push_back(numbers.back() == number(n));
    }
    auto is = [&](int64_t n, size_t e, int64_t value) {
      const Term &a = numbers[static_cast<size_t>(n)];
      return multiple(a, e) == number(value) &&
             axioms.remainder({}, a, powers[e]) == number(n - value);
    };
    Terms right = facts;
    power = 1;
    for (size_t e = 0; e < 4; ++e, power *= base)
      for (int64_t n = 0; n < 11; ++n)
        right.push_back(is(n, e, n / power * power));
    EXPECT_FALSE(isRefuted(right)) << base;
    Terms beyond = facts, before = facts;
    beyond.push_back(is(7, 0, 6));
    before.push_back(is(7, 1, 7 / base * base - base));
    EXPECT_TRUE(isRefuted(beyond)) << base;
    EXPECT_TRUE(isRefuted(before)) << base;
  }
}

TEST_F(Axiomatic, DigitsToAnyBase) {
  // Numbers below base^m with the same digits but one.
  Term b = prover.constant("b"), e = prover.constant("e"), m = prover.constant("m");
  Term a = prover.constant("a"), d = prover.constant("d");
  Term step = axioms.power(b, e), wide = axioms.power(b, e + 1), all = axioms.power(b, m);
  auto down = [&](const Term &n, const Term &p) {
    return axioms.product(axioms.quotient({}, n, p), p);
  };
  Term other = down(a, wide) + d * step + axioms.remainder({}, a, step);
  Terms facts{2 <= b, 0 <= e, e < m, 0 <= a, a < all, 0 <= d, d < b};
  EXPECT_TRUE(prover.proves(facts, 0 <= other && other < all));
  EXPECT_TRUE(prover.proves(facts, down(other, wide) == down(a, wide)));
  EXPECT_TRUE(prover.proves(facts, down(other, step) == down(a, wide) + d * step));
  facts.back() = d <= b;
  EXPECT_FALSE(prover.proves(facts, other < all));
}

TEST_F(Axiomatic, ProductsGrowWithTheirFactors) {
  // The values that factors may have, those below 0 among them.
  for (int64_t a : {-2, 0, 1, 3})
    for (int64_t b : {-3, 0, 1, 2})
      for (int64_t c : {-1, 0, 2, 4}) {
        Term x = prover.constant("x"), y = prover.constant("y"), z = prover.constant("z");
        Terms facts{x == number(a), y == number(b), z == number(c), x * z == number(a * c),
                    y * z == number(b * c)};
        if (c > 0) {
          int64_t quotient = (a - (a % c + c) % c) / c;
          facts.push_back(axioms.quotient({}, x, z) == number(quotient));
        }
        EXPECT_FALSE(isRefuted(facts)) << a << " " << b << " " << c;
      }
  Term x = prover.constant("x"), y = prover.constant("y"), z = prover.constant("z");
  EXPECT_TRUE(isRefuted({z >= 0, x<y, x * z + z> y * z}));
  EXPECT_TRUE(isRefuted({z > 0, x * z <= y, x > axioms.quotient({}, y, z)}));
}

TEST_F(Axiomatic, ExclusiveOr) {
  Terms facts;
  for (int64_t a = 0; a < 6; ++a)
    for (int64_t b = 0; b < 6; ++b)
      facts.push_back(axioms.exclusiveOr(number(a), number(b)) == number(a ^ b));
  facts.push_back(axioms.powerOfTwoUpTo(number(8)) == number(8));
  EXPECT_FALSE(isRefuted(facts));
  facts.push_back(axioms.exclusiveOr(number(5), number(6)) == number(8)); // 8 < 8 does not hold
  EXPECT_TRUE(isRefuted(facts));
}

TEST_F(Axiomatic, ShiftsAndBits) {
  // Constants for the numbers, so that the terms are those of texts.
  Terms facts;
  std::vector<Term> numbers, bits;
  for (int64_t a = 0; a < 11; ++a) {
    numbers.push_back(prover.constant("a" + std::to_string(a)));
    facts.push_back(numbers.back() == number(a));
  }
  for (int64_t k = 0; k < 5; ++k) {
    bits.push_back(prover.constant("k" + std::to_string(k)));
    facts.push_back(bits.back() == number(k));
    facts.push_back(axioms.powerOfTwo(bits.back()) == number(int64_t{1} << k));
  }
  for (int64_t a = 0; a < 11; ++a)
    for (int64_t k = 0; k < 5; ++k) {
      const Term &n = numbers[static_cast<size_t>(a)], &bit = bits[static_cast<size_t>(k)];
      Term shifted = axioms.shiftedRight({}, n, bit);
      facts.push_back(shifted == number(a >> k));
      facts.push_back(axioms.shiftedLeft(shifted, bit) == number(a >> k << k));
      facts.push_back(axioms.exclusiveOr(n, axioms.powerOfTwo(bit)) ==
                      number(a ^ (int64_t{1} << k)));
    }
  EXPECT_FALSE(isRefuted(facts));
  // 9 and 10 agree beyond bit 1, not beyond bit 0.
  Term sameBlock =
      axioms.shiftedRight({}, numbers[9], bits[1]) == axioms.shiftedRight({}, numbers[10], bits[1]);
  Terms few{facts.begin(), facts.begin() + 21};
  EXPECT_FALSE(prover.proves(few, sameBlock));
  few.push_back(axioms.shiftedLeft(axioms.shiftedRight({}, numbers[9], bits[2]), bits[2]) ==
                number(8));
  EXPECT_TRUE(prover.proves(few, axioms.shiftedRight({}, numbers[9], bits[2]) ==
                                     axioms.shiftedRight({}, numbers[10], bits[2])));
}

TEST_F(Axiomatic, QuotientsAndRemaindersAreEuclidean) {
  Term a = prover.constant("a"), b = prover.constant("b");
  for (int64_t x : {-7, -3, 0, 4, 9})
    for (int64_t y : {1, 3, 5}) {
      int64_t r = (x % y + y) % y;
      Terms facts{a == number(x), b == number(y)};
      EXPECT_TRUE(prover.proves(facts, axioms.remainder(facts, a, b) == number(r)));
      EXPECT_TRUE(prover.proves(facts, axioms.quotient(facts, a, b) == number((x - r) / y)));
    }
}

TEST_F(Axiomatic, TreesAreTrees) {
  // A root with the children 2 and 1; 3 lies below 2.
  const Tree *t = axioms.tree("t", number(0));
  Terms facts{ranks.ranks == 4};
  auto parentOf = [&](int64_t r, int64_t p, int64_t depth) {
    facts.push_back(t->parent(number(r)) == number(p));
    facts.push_back(t->depth(number(r)) == number(depth));
  };
  parentOf(0, kNone, 0);
  parentOf(1, 0, 1);
  parentOf(2, 0, 1);
  parentOf(3, 2, 2);
  const int64_t below[4][4] = {{1, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 0, 1}};
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t s = 0; s < 4; ++s)
      facts.push_back(t->isBelow(number(r), number(s)) == prover.truth(below[r][s] != 0));
  const int64_t children[] = {2, 0, 1, 0};
  for (int64_t r = 0; r < 4; ++r)
    facts.push_back(t->children(number(r)) == number(children[r]));
  facts.push_back(t->child(number(0), number(0)) == number(2));
  facts.push_back(t->child(number(0), number(1)) == number(1));
  facts.push_back(t->child(number(2), number(0)) == number(3));
  EXPECT_FALSE(isRefuted(facts));
  // 3 is no child of the root.
  facts.push_back(t->child(number(0), number(1)) == number(3));
  EXPECT_TRUE(isRefuted(facts));
}

TEST_F(Axiomatic, EdgesHaveTwoEnds) {
  const Graph *g = axioms.graph("g");
  Terms facts{ranks.ranks == 3, g->degree[0](number(0)) == 1, g->peer[0](number(0), number(0)) == 2,
              g->peerSlot[0](number(0), number(0)) == 1};
  Term there = g->peer[1](number(2), number(1));
  EXPECT_TRUE(prover.proves(facts, there == 0));
  EXPECT_FALSE(prover.proves(facts, g->peer[1](number(2), number(0)) == 0));
}

/// Ranks 0 to 5 on three nodes, which hold 0, 3, 4 and 1, 5 and 2, and are led by 3, 1 and 2.
class AxiomaticNodes : public Axiomatic {
protected:
  static constexpr int64_t kLeaders[] = {3, 1, 2, 3, 3, 1};

  std::vector<int64_t> nodeOf(int64_t lead) const {
    std::vector<int64_t> all;
    for (int64_t r = 0; r < 6; ++r)
      if (kLeaders[r] == lead)
        all.push_back(r);
    return all;
  }
  Terms machine() {
    Terms facts{ranks.ranks == 6};
    for (int64_t r = 0; r < 6; ++r)
      facts.push_back(axioms.leader(Level::Node, number(r)) == number(kLeaders[r]));
    return facts;
  }
};

TEST_F(AxiomaticNodes, MembersAscend) {
  Terms facts = machine();
  for (int64_t r = 0; r < 6; ++r) {
    GroupValue node = axioms.groupOf(Level::Node, number(r));
    std::vector<int64_t> members = nodeOf(kLeaders[r]);
    facts.push_back(node.size() == number(static_cast<int64_t>(members.size())));
    for (size_t i = 0; i < members.size(); ++i) {
      facts.push_back(node.member(number(static_cast<int64_t>(i))) == number(members[i]));
      facts.push_back(node.numberOf(number(members[i])) == number(static_cast<int64_t>(i)));
    }
  }
  EXPECT_FALSE(isRefuted(facts));
  GroupValue first = axioms.groupOf(Level::Node, number(0));
  Terms descends = machine(), isAlone = machine(), isOfAnother = machine();
  descends.push_back(first.member(number(0)) == 3 && first.member(number(1)) == 0 &&
                     first.size() == 3);
  isAlone.push_back(first.size() == 1);
  isOfAnother.push_back(first.member(number(1)) == 5 && first.size() == 3);
  EXPECT_TRUE(isRefuted(descends));
  EXPECT_TRUE(isRefuted(isAlone));
  EXPECT_TRUE(isRefuted(isOfAnother));
}

TEST_F(AxiomaticNodes, OthersFollowTheLeader) {
  Terms facts = machine();
  auto follows = [&](int64_t i) { return axioms.follower(Level::Node, number(4), number(i)); };
  facts.push_back(axioms.groupOf(Level::Node, number(4)).size() == 3);
  facts.push_back(follows(0) == 4 && follows(1) == 3 && follows(2) == 0);
  EXPECT_FALSE(isRefuted(facts));
  Terms again = machine(), elsewhere = machine();
  again.push_back(follows(1) == follows(2) && axioms.groupOf(Level::Node, number(4)).size() == 3);
  elsewhere.push_back(follows(1) == 1 && axioms.groupOf(Level::Node, number(4)).size() == 3);
  EXPECT_TRUE(isRefuted(again));
  EXPECT_TRUE(isRefuted(elsewhere));
}

/// The even ranks, and the ranks below one.
TEST_F(Axiomatic, GroupsOfRanksForWhichAConditionHolds) {
  Term member = prover.constant("r"), bound = prover.constant("bound");
  GroupValue even = axioms.group(z3::mod(member, 2) == 0, member, {});
  GroupValue below = axioms.group(member < bound, member, {bound});
  Terms facts{ranks.ranks == 5, even.size() == 3};
  for (int64_t i = 0; i < 3; ++i)
    facts.push_back(even.member(number(i)) == number(2 * i) &&
                    even.numberOf(number(2 * i)) == number(i));
  for (int64_t size : {0, 2}) {
    GroupValue some{below.groups, {number(size)}};
    facts.push_back(some.size() == number(size));
    for (int64_t i = 0; i < size; ++i)
      facts.push_back(some.member(number(i)) == number(i) && some.numberOf(number(i)) == number(i));
  }
  EXPECT_FALSE(isRefuted(facts));
  facts.push_back(even.member(number(1)) == 3);
  EXPECT_TRUE(isRefuted(facts));
  // An empty group has no member, and one with a member is not empty.
  GroupValue none{below.groups, {number(0)}}, one{below.groups, {number(1)}};
  EXPECT_TRUE(isRefuted({none.size() > 0}));
  EXPECT_TRUE(isRefuted({one.size() == 0, one.numberOf(number(0)) >= 0}));
}

/// Ranks fold in pairs below a power of two, and the odd ones go on, or the even ones.
TEST_F(Axiomatic, RanksThatGoOnHaveNumbersByAFormula) {
  Term r = prover.constant("r"), rest = ranks.ranks - axioms.powerOfTwoUpTo(ranks.ranks);
  Term isPaired = r < 2 * rest, isOdd = z3::mod(r, 2) == 1;
  GroupValue odd = axioms.group(!isPaired || isOdd, r, {});
  GroupValue even = axioms.group(!isPaired || !isOdd, r, {});
  GroupValue oddAlone = axioms.group(isOdd, r, {}), all = axioms.group(r == r + 0 * rest, r, {});
  Terms facts{ranks.ranks == 6};
  for (const GroupValue *g : {&odd, &even})
    facts.push_back(g->size() == 4);
  for (int64_t i = 0; i < 4; ++i) {
    int64_t first = i < 2 ? 2 * i : i + 2; // of its pair
    for (const GroupValue *g : {&odd, &even}) {
      int64_t member = g == &odd && i < 2 ? first + 1 : first;
      facts.push_back(g->member(number(i)) == number(member));
      facts.push_back(g->numberOf(number(member)) == number(i));
    }
  }
  facts.push_back(oddAlone.size() == 3 && oddAlone.member(number(1)) == 3);
  facts.push_back(all.size() == 6 && all.member(number(5)) == 5);
  EXPECT_FALSE(isRefuted(facts));
  EXPECT_TRUE(prover.proves({}, odd.size() == axioms.powerOfTwoUpTo(ranks.ranks)));
  EXPECT_TRUE(isRefuted({ranks.ranks == 6, even.size() == 3}));
  EXPECT_TRUE(isRefuted({ranks.ranks == 6, rest == 2, odd.member(number(1)) == 2}));
  EXPECT_TRUE(isRefuted({ranks.ranks == 6, rest == 2, odd.numberOf(number(3)) == 2}));
}

TEST_F(Axiomatic, ReversedBits) {
  auto reverse = [](int64_t a, int64_t bits) {
    int64_t result = 0;
    for (; bits > 0; --bits, a /= 2)
      result = 2 * result + a % 2;
    return result;
  };
  for (int64_t bits = 0; bits < 4; ++bits)
    for (int64_t a = 0; a < 16; ++a)
      for (int64_t k = 0; k < 5; ++k) {
        Term x = prover.constant("x"),
             changed = axioms.exclusiveOr(x, axioms.powerOfTwo(number(k)));
        Terms facts{x == number(a), changed == number(a ^ (int64_t{1} << k)),
                    axioms.reversed(x, number(bits)) == number(reverse(a, bits))};
        // A power of no meaning, if the bit is none of those.
        int64_t mirrored = k < bits ? int64_t{1} << (bits - 1 - k) : 7;
        Term power = axioms.powerOfTwo(number(bits - 1 - k));
        facts.push_back(power == number(mirrored));
        facts.push_back(axioms.exclusiveOr(number(reverse(a, bits)), power) ==
                        number(reverse(a, bits) ^ mirrored));
        int64_t wanted = reverse(a ^ (int64_t{1} << k), bits);
        facts.push_back(axioms.reversed(changed, number(bits)) == number(wanted));
        EXPECT_FALSE(isRefuted(facts)) << a << " " << bits << " " << k;
        facts.back() = axioms.reversed(changed, number(bits)) != number(wanted);
        if (k < bits) {
          EXPECT_TRUE(isRefuted(facts)) << a << " " << bits << " " << k;
        }
      }
}

/// The value of a function for some arguments.
struct Given {
  const char *function;
  std::vector<int64_t> arguments;
  int64_t value;
};

/// Values beyond a hypothesis of an axiom, which contradict what the axiom concludes. Without that
/// hypothesis they would be refuted.
struct Beyond {
  const char *hypothesis;
  std::vector<Given> values;
};

class AxiomsBeyond : public Axiomatic {
protected:
  /// The values of each row belong to functions of four ranks.
  void expectNoneRefuted(const std::vector<Beyond> &table) {
    for (const Beyond &beyond : table) {
      Terms facts{ranks.ranks == 4};
      for (const Given &given : beyond.values) {
        z3::expr_vector arguments(prover.context());
        for (int64_t a : given.arguments)
          arguments.push_back(number(a));
        z3::func_decl f =
            prover.function(given.function, static_cast<unsigned>(given.arguments.size()));
        facts.push_back(f(arguments) == number(given.value));
      }
      EXPECT_FALSE(isRefuted(facts)) << beyond.hypothesis;
    }
  }
};

TEST_F(AxiomsBeyond, SayNothingBeyondTheirHypotheses) {
  const std::vector<Beyond> table{
      {"divisor 0", {{"quotient", {5, 0}, 7}, {"remainder", {5, 0}, 9}}},
      {"negative dividend", {{"quotient", {-7, 3}, -3}, {"remainder", {-7, 3}, 2}}},
      {"dividend beyond the divisor", {{"quotient", {7, 5}, 1}, {"remainder", {7, 5}, 2}}},
      {"small negative dividend", {{"quotient", {-2, 5}, -1}, {"remainder", {-2, 5}, 3}}},
      {"xor of a negative number", {{"bitwise_xor", {-1, 2}, -3}}},
      {"xor of a negative number and 1", {{"bitwise_xor", {-3, 1}, -10}}},
      {"first beyond the power", {{"bitwise_xor", {9, 1}, 8}, {"pow2", {3}, 8}}},
      {"second beyond the power", {{"bitwise_xor", {1, 9}, 8}, {"pow2", {3}, 8}}},
      {"power of a negative number", {{"pow2", {-1}, 5}, {"bitwise_xor", {3, 4}, 7}}},
      {"log2 of 0", {{"log2", {0}, -5}}},
      {"log2 beyond ranks", {{"log2", {1099511627776}, 40}}},
      {"ceil_log2 of 0", {{"ceil_log2", {0}, -5}}},
      {"ceil_log2 of 1", {{"ceil_log2", {1}, 0}}},
      {"ceil_log2 beyond ranks", {{"ceil_log2", {1099511627776}, 40}}},
      {"negative exponent", {{"pow2", {-3}, -7}}},
      {"next to a negative exponent", {{"pow2", {-2}, 9}, {"pow2", {-1}, 10}}},
      {"exponents in descending order", {{"pow2", {3}, 8}, {"pow2", {2}, 4}}},
      {"exponents further apart", {{"pow2", {2}, 4}, {"pow2", {4}, 16}}},
      {"shift of a negative number",
       {{"shift", {-8, 1}, 50}, {"shift", {-8, 2}, 3}, {"pow2", {1}, 2}}},
      {"shift by a negative number",
       {{"shift", {8, -2}, 99}, {"shift", {8, -1}, 3}, {"pow2", {-1}, 100}}},
      {"shift by something", {{"shift", {9, 1}, 4}}},
      {"shift and another power", {{"shift", {9, 2}, 2}, {"pow2", {4}, 16}}},
      {"shifts in descending order", {{"shift", {9, 1}, 4}, {"shift", {3, 1}, 1}}},
      {"shifts of a negative and of another number",
       {{"shift", {-8, 1}, 50}, {"shift", {4, 1}, 2}}},
      {"shifts by different numbers", {{"shift", {9, 0}, 9}, {"shift", {10, 2}, 2}}},
      {"shifts by one negative number", {{"shift", {4, -1}, 9}, {"shift", {5, -1}, 3}}},
      {"shifts of different numbers by the next", {{"shift", {9, 1}, 4}, {"shift", {4, 2}, 1}}},
      {"shifts by more than the next", {{"shift", {9, 0}, 9}, {"shift", {9, 2}, 2}}},
      {"aligned negative number", {{"aligned", {-8, 1}, 50}, {"aligned", {-8, 2}, 20}}},
      {"aligned to a negative bit", {{"aligned", {9, -1}, 77}, {"aligned", {9, 0}, 9}}},
      {"aligned to something", {{"aligned", {9, 1}, 8}}},
      {"aligned different numbers", {{"aligned", {9, 1}, 8}, {"aligned", {4, 2}, 4}}},
      {"aligned to bits further apart", {{"aligned", {11, 0}, 11}, {"aligned", {11, 3}, 8}}},
      {"block of a negative number",
       {{"aligned", {-8, 1}, 50}, {"shift", {-8, 1}, 2}, {"shift", {4, 1}, 2}}},
      {"block and another bit", {{"aligned", {9, 1}, 8}, {"shift", {9, 2}, 2}}},
      {"negative number in a block", {{"aligned", {4, 1}, 4}, {"shift", {-7, 1}, 2}}},
      {"block of a negative bit", {{"aligned", {9, -1}, 77}, {"shift", {9, -1}, 3}}},
      {"aligned negative number below a power", {{"aligned", {-8, 1}, 50}, {"pow2", {3}, 8}}},
      {"aligned beyond the power", {{"aligned", {9, 1}, 8}, {"pow2", {3}, 8}}},
      {"aligned to a negative bit below a power", {{"aligned", {3, -1}, 77}, {"pow2", {2}, 4}}},
      {"aligned to a bit beyond the power", {{"aligned", {3, 5}, 0}, {"pow2", {2}, 4}}},
      {"aligned beyond a smaller power", {{"aligned", {9, 3}, 8}, {"pow2", {2}, 4}}},
      {"aligned and a negative exponent", {{"aligned", {3, 1}, 2}, {"pow2", {-1}, 100}}},
      {"aligned to a bit below the exponent", {{"aligned", {3, 0}, 3}, {"pow2", {2}, 4}}},
      {"bits of a negative number", {{"bitreverse", {-3, 2}, 2}, {"bitreverse", {2, 2}, 1}}},
      {"bits beyond those reversed", {{"bitreverse", {9, 2}, 2}, {"bitreverse", {2, 2}, 1}}},
      {"a negative number of bits", {{"bitreverse", {5, -1}, -9}, {"pow2", {-1}, 7}}},
      {"part of a negative length",
       {{"part_begin", {-5, 3, 1}, 40}, {"part_begin", {-5, 3, 2}, 20}}},
      {"part before the first", {{"part_begin", {9, 3, -1}, -4}}},
      {"part beyond the last", {{"part_begin", {9, 3, 5}, 100}}},
      {"part in the middle", {{"part_begin", {9, 3, 1}, 3}}},
      {"no parts", {{"part_begin", {9, 0, 0}, 4}}},
      {"parts of different lengths",
       {{"part_begin", {90, 3, 1}, 30}, {"part_begin", {9, 3, 2}, 6}}},
      {"parts of different counts", {{"part_begin", {9, 3, 1}, 3}, {"part_begin", {9, 30, 2}, 0}}},
      {"parts from before the first",
       {{"part_begin", {9, 3, -1}, 100}, {"part_begin", {9, 3, 1}, 3}}},
      {"parts in descending order", {{"part_begin", {9, 3, 2}, 6}, {"part_begin", {9, 3, 1}, 3}}},
      {"parts to beyond the last", {{"part_begin", {9, 3, 3}, 9}, {"part_begin", {9, 3, 5}, 2}}},
      {"element before the first", {{"part_index", {9, 3, -1}, -7}}},
      {"element beyond the last", {{"part_index", {9, 3, 20}, 50}}},
      {"element of no parts", {{"part_index", {9, 0, 3}, 5}}},
      {"element of another length", {{"part_begin", {9, 3, 1}, 3}, {"part_index", {90, 3, 5}, 0}}},
      {"element of another count", {{"part_begin", {9, 3, 1}, 3}, {"part_index", {9, 1, 5}, 0}}},
      {"element and a part before the first",
       {{"part_begin", {9, 3, -1}, 100}, {"part_index", {9, 3, 5}, 1}}},
      {"element and a part beyond the last",
       {{"part_begin", {9, 3, 5}, 2}, {"part_index", {9, 3, 5}, 1}}},
      {"element before the first and a part",
       {{"part_begin", {9, 3, 1}, 3}, {"part_index", {9, 3, -1}, 4}}},
      {"element beyond the last and a part",
       {{"part_begin", {9, 3, 1}, 3}, {"part_index", {9, 3, 20}, 0}}},
      {"part of no elements", {{"part_begin", {0, 3, 1}, 0}}},
      {"end of the last part", {{"part_begin", {9, 3, 3}, 9}}},
      {"parts that may be empty", {{"part_begin", {2, 3, 0}, 0}, {"part_begin", {2, 3, 1}, 0}}},
      {"element of a part behind an empty one",
       {{"part_begin", {2, 3, 0}, 0}, {"part_index", {2, 3, 0}, 1}}},
      {"element within a part", {{"part_begin", {9, 3, 1}, 3}, {"part_index", {9, 3, 7}, 2}}},
      {"multiple below a negative number", {{"multiple", {-8, 3, 1}, 50}}},
      {"multiple of a power of 1", {{"multiple", {9, 1, 2}, 77}}},
      {"multiple of a negative power", {{"multiple", {9, 3, -1}, 77}}},
      {"multiple of something", {{"multiple", {10, 3, 1}, 9}}},
      {"multiples for two bases", {{"multiple", {10, 3, 1}, 9}, {"multiple", {10, 2, 1}, 10}}},
      {"run of a negative number", {{"multiple", {-8, 3, 1}, 2}, {"multiple", {4, 3, 1}, 3}}},
      {"negative number in a run", {{"multiple", {4, 3, 1}, 3}, {"multiple", {-8, 3, 1}, 3}}},
      {"run for a power of 1", {{"multiple", {9, 1, 2}, 77}, {"multiple", {4, 1, 2}, 77}}},
      {"run for a negative power", {{"multiple", {9, 3, -1}, 77}, {"multiple", {4, 3, -1}, 77}}},
      {"runs for different powers", {{"multiple", {10, 3, 1}, 9}, {"multiple", {11, 3, 0}, 11}}},
      {"digit of different numbers", {{"multiple", {10, 3, 1}, 9}, {"multiple", {4, 3, 2}, 0}}},
      {"digit between powers further apart",
       {{"multiple", {8, 3, 0}, 8}, {"multiple", {8, 3, 2}, 0}}},
      {"digit between negative powers",
       {{"multiple", {9, 3, -2}, 50}, {"multiple", {9, 3, -1}, 6}, {"power", {3, -2}, 100}}},
      {"negative multiple below a power", {{"multiple", {-8, 3, 1}, 50}, {"power", {3, 3}, 27}}},
      {"multiple beyond the power", {{"multiple", {28, 3, 1}, 27}, {"power", {3, 3}, 27}}},
      {"multiple for a power of 1 below another",
       {{"multiple", {0, 1, 2}, 77}, {"power", {1, 3}, 5}, {"power", {1, 2}, 1}}},
      {"multiple for a negative power below another",
       {{"multiple", {9, 3, -1}, 77}, {"power", {3, 3}, 27}, {"power", {3, -1}, 100}}},
      {"multiple for a power below a smaller one",
       {{"multiple", {2, 3, 5}, 0}, {"power", {3, 1}, 3}}},
      {"multiple below a power to another base",
       {{"multiple", {24, 3, 1}, 24}, {"power", {5, 2}, 25}}},
      {"parent of no rank", {{"t.parent", {7}, 9}}},
      {"child before the first", {{"t.child", {0, -1}, 77}}},
      {"child beyond the last", {{"t.children", {0}, 2}, {"t.child", {0, 5}, 77}}},
      {"child of no rank", {{"t.children", {9}, 3}, {"t.child", {9, 0}, 77}}},
      {"depth below the root", {{"t.depth", {1}, 1}}},
      {"leaf", {{"t.children", {3}, 0}}},
      {"edge of no rank", {{"g.outdegree", {7}, 1}, {"g.out.peer", {7, 0}, 9}}},
      {"edge before the first", {{"g.outdegree", {0}, 1}, {"g.out.peer", {0, -1}, 9}}},
      {"edge beyond the last", {{"g.outdegree", {0}, 1}, {"g.out.peer", {0, 4}, 9}}},
      {"edge to none", {{"g.outdegree", {0}, 1}, {"g.out.peer", {0, 0}, kNone}}},
  };
  axioms.tree("t", number(0));
  axioms.graph("g");
  expectNoneRefuted(table);
}

/// Group 0 has the even ones of four ranks, group 1 those from a bound on, group 2 a node's.
TEST_F(AxiomsBeyond, GroupsSayNothingBeyondTheirHypotheses) {
  const std::vector<Beyond> table{
      {"first member of an empty group", {{"group1.size", {9}, 0}, {"group1.member", {9, 0}, 99}}},
      {"member before the first", {{"group0.size", {}, 2}, {"group0.member", {-1}, 99}}},
      {"member beyond the last", {{"group0.size", {}, 2}, {"group0.member", {5}, 99}}},
      {"number of no rank", {{"group0.size", {}, 2}, {"group0.number", {8}, -5}}},
      {"number of another rank", {{"group0.size", {}, 2}, {"group0.number", {1}, 44}}},
      {"numbers in groups of different keys",
       {{"group1.size", {0}, 4},
        {"group1.size", {2}, 2},
        {"group1.number", {0, 2}, 2},
        {"group1.number", {2, 3}, 1},
        {"group1.member", {0, 2}, 2},
        {"group1.member", {2, 1}, 3}}},
      {"numbers of ranks in descending order",
       {{"group0.size", {}, 2},
        {"group0.number", {2}, 1},
        {"group0.number", {0}, 0},
        {"group0.member", {1}, 2},
        {"group0.member", {0}, 0}}},
      {"numbers of a member and of another rank",
       {{"group0.size", {}, 2},
        {"group0.number", {0}, 0},
        {"group0.number", {1}, 0},
        {"group0.member", {0}, 0}}},
      {"members in groups of different keys",
       {{"group1.size", {0}, 4},
        {"group1.size", {2}, 2},
        {"group1.member", {2, 0}, 2},
        {"group1.member", {0, 1}, 1},
        {"group1.number", {2, 2}, 0},
        {"group1.number", {0, 1}, 1}}},
      {"members to beyond the last",
       {{"group0.size", {}, 2},
        {"group0.member", {1}, 2},
        {"group0.number", {2}, 1},
        {"group0.member", {3}, 0}}},
      {"leader of no rank", {{"level1.leader", {8}, 77}}},
      {"size of the group of no leader", {{"group2.size", {9}, 0}, {"level1.leader", {8}, 9}}},
      {"group of one and a rank that is none",
       {{"group2.size", {2}, 1},
        {"level1.leader", {8}, 2},
        {"level1.leader", {2}, 2},
        {"group2.member", {2, 0}, 2},
        {"group2.number", {2, 2}, 0}}},
      {"follower before the leader",
       {{"level1.leader", {0}, 0}, {"group2.size", {0}, 2}, {"level1.follower", {0, -1}, 77}}},
      {"follower beyond the last",
       {{"level1.leader", {0}, 0}, {"group2.size", {0}, 2}, {"level1.follower", {0, 5}, 77}}},
      {"follower of no rank",
       {{"level1.leader", {9}, 0},
        {"level1.leader", {0}, 0},
        {"group2.size", {0}, 2},
        {"level1.follower", {9, 1}, 77}}},
      {"place of no rank", {{"level1.leader", {0}, 0}, {"level1.place", {0, 9}, 77}}},
      {"place in another group",
       {{"level1.leader", {0}, 0}, {"level1.leader", {1}, 1}, {"level1.place", {0, 1}, 77}}},
  };
  Term member = prover.constant("r"), bound = prover.constant("bound");
  axioms.group(z3::mod(member, 2) == 0, member, {});
  axioms.group(member >= bound, member, {bound});
  axioms.leader(Level::Node, number(0));
  expectNoneRefuted(table);
}

} // namespace
} // namespace colldsl::parameterized
