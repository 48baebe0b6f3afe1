#include "transports/ofi/Domains.h"

#include <algorithm>
#include <string_view>

namespace colldsl::ofi {
namespace {

std::string_view words(const char *text) { return text ? text : ""; }

bool isUp(const fi_info &offer) {
  return !offer.nic || !offer.nic->link_attr || offer.nic->link_attr->state != FI_LINK_DOWN;
}

// Fabrics of one name reach each other.
bool canStandIn(const fi_info &one, const fi_info &other) {
  return words(one.fabric_attr->prov_name) == words(other.fabric_attr->prov_name) &&
         words(one.fabric_attr->name) == words(other.fabric_attr->name) &&
         one.ep_attr->protocol == other.ep_attr->protocol && one.addr_format == other.addr_format &&
         one.caps == other.caps && one.domain_attr->mr_mode == other.domain_attr->mr_mode;
}

} // namespace

std::vector<const fi_info *> equalDomains(const fi_info *offers) {
  std::vector<const fi_info *> equal;
  for (const fi_info *offer = offers; offer; offer = offer->next) {
    auto isSameDomain = [&](const fi_info *known) {
      return words(known->domain_attr->name) == words(offer->domain_attr->name);
    };
    bool fits = equal.empty() || canStandIn(*equal[0], *offer);
    if (isUp(*offer) && fits && std::none_of(equal.begin(), equal.end(), isSameDomain))
      equal.push_back(offer);
  }
  if (equal.empty())
    equal.push_back(offers);
  return equal;
}

NicName nicOf(const fi_info &offer) {
  const fid_nic *nic = offer.nic;
  NicName named{std::string(words(offer.domain_attr->name)), ""};
  if (nic && nic->device_attr && nic->device_attr->name)
    named.name = nic->device_attr->name;
  if (nic && nic->bus_attr && nic->bus_attr->bus_type == FI_BUS_PCI) {
    const fi_pci_attr &pci = nic->bus_attr->attr.pci;
    named.bus = pciName(pci.domain_id, pci.bus_id, pci.device_id, pci.function_id);
  }
  return named;
}

} // namespace colldsl::ofi
