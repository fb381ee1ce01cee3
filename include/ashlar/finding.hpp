/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What is wrong with the spec of a tensor map: all of it, without a driver.
 *
 *     try {
 *         ashlar::check(tile, 90);         // returns warnings
 *     } catch (const ashlar::spec_error &error) {
 *         error.what();                    // a line for each rule it breaks
 *         error.findings();                // the same as a range
 *     }
 */
#ifndef ASHLAR_FINDING_HPP
#define ASHLAR_FINDING_HPP

#include <ashlar/error.hpp>
#include <ashlar/tensormap.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#ifndef ASHLAR_NO_EXCEPTIONS
#include <string>
#endif

namespace ashlar
{

/** One thing that is wrong with a spec. */
struct finding : ashlar_spec_finding {
    /** Its sentence, which is held here. */
    class sentence
    {
      public:
        /** ashlar_spec_explain(). @since 0.1 */
        explicit sentence(const ashlar_spec_finding &finding,
                          const char *subject = nullptr) noexcept
        {
            (void)ashlar_spec_explain(&finding, subject, text_, sizeof(text_));
        }

        const char *c_str() const noexcept
        {
            return text_;
        }

        operator std::string_view() const noexcept
        {
            return text_;
        }

      private:
        char text_[256] = {};
    };

    /**
     * Put it in a sentence: ashlar_spec_explain().
     *
     * @param subject  What to call the field; by default, as the struct does.
     * @since 0.1
     */
    sentence explain(const char *subject = nullptr) const noexcept
    {
        return sentence(*this, subject);
    }

    /** @return Whether the encoder refuses for it. @since 0.1 */
    bool is_error() const noexcept
    {
        return severity == ASHLAR_SPEC_ERROR;
    }

    /** ashlar_spec_rule_name(). @since 0.1 */
    const char *rule_name() const noexcept
    {
        return ashlar_spec_rule_name(static_cast<enum ashlar_spec_rule>(rule));
    }
};

/** All that is wrong with a spec, errors before warnings: a range. */
class findings
{
  public:
    using value_type = finding;
    using const_iterator = const finding *;

    /** None. @since 0.1 */
    findings() noexcept = default;

    /** ashlar_spec_check(), as check() has it. @since 0.1 */
    findings(const ashlar_spec &spec, std::uint32_t capability) noexcept
    {
        status_ = ashlar_spec_check(&spec, capability, found_.data(),
                                    found_.size(), &size_);
        while (errors_ < size_ && found_[errors_].is_error())
            errors_++;
    }

    /** @return What the check said. @since 0.1 */
    enum ashlar_status status() const noexcept
    {
        return status_;
    }

    /** @return How many of them are errors: the first ones. @since 0.1 */
    std::size_t errors() const noexcept
    {
        return errors_;
    }

    std::size_t size() const noexcept
    {
        return size_;
    }

    bool empty() const noexcept
    {
        return size_ == 0;
    }

    const finding *begin() const noexcept
    {
        return found_.data();
    }

    const finding *end() const noexcept
    {
        return found_.data() + size_;
    }

    /** @param i  Below size(), which is not checked. @since 0.1 */
    const finding &operator[](std::size_t i) const noexcept
    {
        return found_[i];
    }

  private:
    static_assert(sizeof(finding) == sizeof(ashlar_spec_finding),
                  "an array of them is an array of C");

    std::size_t size_ = 0;
    std::size_t errors_ = 0;
    enum ashlar_status status_ = ASHLAR_OK;
    std::array<finding, ASHLAR_SPEC_FINDINGS_MAX> found_;
};

/**
 * Check a spec against every rule of its encoder: ashlar_spec_check(). No
 * driver is asked.
 *
 * @param spec        Borrowed for the call.
 * @param capability  Of the device, times ten, such as 90; 0: not known.
 *
 * @return What is wrong, and its status().
 * @since 0.1
 */
inline findings check(const std::nothrow_t &, const ashlar_spec &spec,
                      std::uint32_t capability = 0) noexcept
{
    return findings(spec, capability);
}

#ifndef ASHLAR_NO_EXCEPTIONS
/** What is thrown of a spec that breaks rules: what() has a line for each. */
class spec_error : public error
{
  public:
    /**
     * @param found    Errors, and warnings perhaps; copied.
     * @param culprit  Which spec it was, where there were several.
     * @since 0.1
     */
    explicit spec_error(const ashlar::findings &found, std::size_t culprit = 0)
        : error(found.status(), lines(found).c_str()), found_(found),
          culprit_(culprit)
    {
    }

    /** @return All that is wrong with the spec. @since 0.1 */
    const ashlar::findings &findings() const noexcept
    {
        return found_;
    }

    /** @return Its index among the specs of the call. @since 0.1 */
    std::size_t culprit() const noexcept
    {
        return culprit_;
    }

  private:
    static std::string lines(const ashlar::findings &found)
    {
        std::string text;

        for (std::size_t i = 0; i < found.errors(); i++) {
            if (i != 0)
                text += '\n';
            text += found[i].explain();
        }
        return text;
    }

    ashlar::findings found_;
    std::size_t culprit_;
};

/**
 * The same, plain.
 *
 * @return Warnings, if there are any.
 * @throws ashlar::spec_error  The spec breaks rules.
 * @throws ashlar::error       It has not its size.
 * @since 0.1
 */
inline findings check(const ashlar_spec &spec, std::uint32_t capability = 0)
{
    findings found(spec, capability);

    if (ASHLAR_UNLIKELY(found.errors() != 0))
        throw spec_error(found);
    detail::check(found.status());
    return found;
}
#endif

} // namespace ashlar

#endif
